package sim

// advices say what a verdict asks of whoever is there when it has come true.
var advices = [verdicts]string{
	Suffers:    "down for as long as its cause lasts; end that, or take load away",
	SlowDrain:  "coming back by itself while the backlog shrinks; less load, or dropping what is too old, makes it sooner",
	Metastable: "down though its cause is gone, and it stays so; take load away until it answers again, then bound what keeps it busy: retries, queues",
	Collapsed:  "down though nothing has happened; it is asked for more than it can answer, or its defences refuse what it could: add capacity, refuse the excess early, or look at who refuses",
}

// Advice says what to do about every verdict of a replication that does not
// recover, the worst first. What is undecided is said in ArmResult.Doubt.
func (r *Result) Advice() []string {
	var all []string
	for v := Collapsed; v > Recovers; v-- {
		seen := false
		for i := range r.Arms {
			seen = seen || r.Arms[i].Verdicts[v] > 0
		}
		if seen && advices[v] != "" {
			all = append(all, v.String()+": "+advices[v])
		}
	}
	return all
}
