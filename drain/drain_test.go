package drain

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/kalan-go/kalan/jitter"
)

const ms = time.Millisecond

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, config Config) *Drain {
	t.Helper()
	d, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// serve returns a server behind a drain, and a client that opens a connection
// for each request.
func serve(t *testing.T, d *Drain) (*http.Server, *http.Client) {
	mux := http.NewServeMux()
	mux.HandleFunc("/livez", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !d.Ready() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/work", func(_ http.ResponseWriter, r *http.Request) {
		if d.Enter() {
			defer d.Exit()
			takes, _ := time.ParseDuration(r.FormValue("takes"))
			jitter.Sleep(r.Context(), takes)
		}
	})
	listener := newPipeListener()
	server := &http.Server{Handler: mux}
	go server.Serve(listener)
	return server, &http.Client{Transport: &http.Transport{DialContext: listener.dial, DisableKeepAlives: true}}
}

func status(client *http.Client, path string) (int, error) {
	response, err := client.Get("http://gateway" + path)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// O-34: a delay of 10 s; a new connection and request every 100 ms.
func TestNobodyIsRefusedWhileBalancersDoNotKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := must(t, Config{Delay: 10 * time.Second, Finish: 15 * time.Second})
		server, client := serve(t, d)
		begun, ended := time.Now(), make(chan time.Duration, 1)
		go func() {
			cut, err := d.Run(t.Context(), Steps{Finish: server.Shutdown, Close: server.Close})
			if cut != 0 || err != nil {
				t.Errorf("cut %d, %v", cut, err)
			}
			ended <- time.Since(begun)
		}()
		synctest.Wait()
		for at := time.Duration(0); at < 10*time.Second; at += 100 * ms {
			if code, err := status(client, "/work?takes=20ms"); code != 200 || err != nil {
				t.Errorf("after %v: %d, %v", at, code, err)
			}
			if code, err := status(client, "/readyz"); code != 503 || err != nil {
				t.Errorf("readiness after %v: %d, %v", at, code, err)
			}
			if code, err := status(client, "/livez"); code != 200 || err != nil {
				t.Errorf("liveness after %v: %d, %v", at, code, err)
			}
			time.Sleep(time.Until(begun.Add(at + 100*ms)))
		}
		if at := <-ended; at < 10*time.Second || at > 10500*ms {
			t.Errorf("closed after %v", at)
		}
		if _, err := status(client, "/livez"); !errors.Is(err, errRefused) {
			t.Errorf("after closing: %v", err)
		}
	})
}

func TestWhatIsInFlightFinishesOrIsCut(t *testing.T) {
	for _, test := range []struct {
		takes string
		cut   int
		after time.Duration
	}{
		{"8s", 0, 8 * time.Second},
		{"24s", 0, 24 * time.Second}, // Shutdown looks every 500 ms
		{"1h", 2, 25 * time.Second},  // the request, and the Shutdown that waited for it
	} {
		synctest.Test(t, func(t *testing.T) {
			d := must(t, Config{})
			server, client := serve(t, d)
			answered := make(chan error, 1)
			go func() {
				_, err := status(client, "/work?takes="+test.takes)
				answered <- err
			}()
			synctest.Wait()
			begun := time.Now()
			cut, err := d.Run(t.Context(), Steps{Finish: server.Shutdown, Close: server.Close})
			if took := time.Since(begun); cut != test.cut || err != nil || took < test.after || took > test.after+time.Second {
				t.Errorf("%s: cut %d, %v, after %v", test.takes, cut, err, took)
			}
			if err := <-answered; (err != nil) != (test.cut > 0) {
				t.Errorf("%s: the caller got %v", test.takes, err)
			}
		})
	}
}

func TestASecondSignalCutsShort(t *testing.T) {
	for _, test := range []struct {
		at  time.Duration
		cut int
	}{{2 * time.Second, 1}, {7 * time.Second, 2}} {
		synctest.Test(t, func(t *testing.T) {
			d := must(t, Config{})
			d.Enter()
			ctx, cancel := context.WithTimeout(t.Context(), test.at)
			defer cancel()
			begun := time.Now()
			hang := make(chan struct{})
			cut, err := d.Run(ctx, Steps{Finish: func(context.Context) error { <-hang; return nil }})
			close(hang)
			synctest.Wait()
			if cut != test.cut || err != nil || time.Since(begun) != test.at {
				t.Errorf("cut %d, %v after %v", cut, err, time.Since(begun))
			}
			if d.Exit(); d.InFlight() != 0 || d.State() != Closed {
				t.Errorf("%d in flight, %v", d.InFlight(), d.State())
			}
		})
	}
}

func TestTheStepsComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := must(t, Config{})
		begun, steps := time.Now(), []string{}
		step := func(name string) {
			steps = append(steps, name+" "+d.State().String()+" "+time.Since(begun).String())
		}
		wrong, broken := errors.New("could not finish"), errors.New("could not close")
		run := func() (int, error) {
			return d.Run(t.Context(), Steps{
				Leave: func() { step("leave") },
				Finish: func(ctx context.Context) error {
					step("finish")
					<-d.Finishing()
					return errors.Join(wrong, jitter.Sleep(ctx, 3*time.Second))
				},
				Close: func() error { step("close"); return broken },
			})
		}
		cut, err := run()
		again, errAgain := run()
		if cut != 0 || !errors.Is(err, wrong) || !errors.Is(err, broken) || again != cut || errAgain != err {
			t.Errorf("cut %d, %v; and again %d, %v", cut, err, again, errAgain)
		}
		if got := strings.Join(steps, ", "); got != "leave leaving 0s, finish finishing 5s, close closed 8s" {
			t.Error(got)
		}
	})
}

// That the time to finish was over is told by the count, and not again by the
// step that was cut.
func TestTheStepsOwnDeadlineIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := must(t, Config{})
		cut, err := d.Run(t.Context(), Steps{Finish: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }})
		if cut != 1 || err != nil {
			t.Errorf("cut %d, %v", cut, err)
		}
	})
}

// O-12: an hour's step of the wall clock does not end a drain of 10 s, because
// the time since the epoch is that of the monotonic clock.
func TestTheClockIsTheMonotonicOne(t *testing.T) {
	if d := must(t, Config{}); !strings.Contains(d.epoch.String(), " m=") {
		t.Errorf("the epoch %v has no monotonic reading", d.epoch)
	}
}

// Whatever comes and goes: at the end nothing is in flight that was not cut, and
// the way out is never longer than delay and finish.
func TestChaos(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			d := must(t, Config{Delay: 200 * ms, Finish: 300 * ms})
			var wg sync.WaitGroup
			for worker := range uint64(10) {
				dice := rand.New(rand.NewPCG(seed, worker))
				wg.Go(func() {
					for d.Enter() {
						time.Sleep(time.Duration(dice.IntN(int(400 * ms))))
						d.Exit()
						time.Sleep(time.Duration(dice.IntN(int(50 * ms))))
					}
				})
			}
			time.Sleep(time.Duration(seed) * 10 * ms)
			begun := time.Now()
			cut, _ := d.Run(t.Context(), Steps{})
			took := time.Since(begun)
			if left := d.InFlight(); left != cut || took < 200*ms || took > 500*ms || cut == 0 && took == 500*ms || cut > 0 && took != 500*ms {
				t.Errorf("seed %d: cut %d, %d in flight, after %v", seed, cut, left, took)
			}
			wg.Wait()
			if d.InFlight() != 0 {
				t.Errorf("seed %d: %d are left", seed, d.InFlight())
			}
		})
	}
}

func TestEnteringAllocatesNothing(t *testing.T) {
	d := must(t, Config{})
	if n := testing.AllocsPerRun(100, func() {
		d.Enter()
		d.Exit()
		d.Ready()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkEnterExit(b *testing.B) {
	d := must(b, Config{})
	for b.Loop() {
		d.Enter()
		d.Exit()
	}
}
