package policy

// Draw returns a number in [0, 1), the same for the same seed: the generator
// splitmix64 of Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators" (2014), of which any seed is as good as any other.
func Draw(seed uint64) float64 {
	z := seed + 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}
