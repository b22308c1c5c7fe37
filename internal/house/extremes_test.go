package house

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/kalan-go/kalan"
	"github.com/kalan-go/kalan/cache"
	"github.com/kalan-go/kalan/cut"
	"github.com/kalan-go/kalan/drain"
	"github.com/kalan-go/kalan/handoff"
	"github.com/kalan-go/kalan/kalansql"
	"github.com/kalan-go/kalan/pace"
	"github.com/kalan-go/kalan/pause"
	"github.com/kalan-go/kalan/policy/stack"
	"github.com/kalan-go/kalan/policy/throttle"
	"github.com/kalan-go/kalan/slots"
)

// A number at the end of its range, in any field of any configuration, is
// refused or works: it is no panic, no allocation of all the memory and no slot
// that does not come back.
func TestNoNumberBreaksWhatIsMadeOfIt(t *testing.T) {
	work := func(context.Context, int) (int, error) { return 1, nil }
	tried := 0
	for _, c := range []any{
		func(c stack.Config) error { return callThrough(t, c) },
		func(c throttle.Config) error { return callThrough(t, stack.Config{Throttle: &c}) },
		func(c cache.Config) error {
			k, err := cache.New(c, work)
			if err == nil {
				_, err = k.Get(t.Context(), 1)
			}
			return err
		},
		func(c cut.Config) error {
			p, err := cut.New(c)
			if err == nil {
				_, err = cut.Do(t.Context(), p, func(ctx context.Context) (int, error) { return work(ctx, 1) })
			}
			return err
		},
		func(c drain.Config) error {
			d, err := drain.New(c)
			if err == nil && d.Enter() {
				d.Exit()
			}
			return err
		},
		func(c handoff.Config) error {
			q, err := handoff.New(c, handoff.Work[int]{Do: func(context.Context, int) {}})
			if err == nil {
				_, err = q.Offer(t.Context(), 1), q.Close(t.Context())
			}
			return err
		},
		func(c pace.Config) error {
			l, err := pace.New(c)
			if err == nil {
				err = l.Wait(t.Context(), 1)
			}
			if _, e := pace.NewSet[int](c); e != nil {
				return e
			}
			return err
		},
		func(c pause.Config) error { _, err := pause.New(c); return err },
		func(c slots.Config) error { _, err := slots.New(c); return err },
		func(c kalansql.Config) error { _, err := kalansql.Open(nil, c); return err },
	} {
		try := reflect.ValueOf(c)
		value := reflect.New(try.Type().In(0)).Elem()
		numbers(value, value.Type().String(), func(what string) {
			tried++
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: %v", what, p)
				}
			}()
			try.Call([]reflect.Value{value})
		})
	}
	if tried < 300 {
		t.Errorf("only %d numbers were tried", tried)
	}
}

// callThrough makes a guard and calls through it, with and without success.
func callThrough(t *testing.T, c stack.Config) error {
	g, err := kalan.New(kalan.Config{Config: c})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for i := range 3 {
		kalan.Do(ctx, g, func(context.Context) (int, error) {
			if i == 1 {
				return 0, context.DeadlineExceeded
			}
			return 0, nil
		})
	}
	if n := g.Snapshot().InFlight; n != 0 {
		t.Errorf("%+v: %d in flight", c, n)
	}
	return g.Configure(c)
}

// numbers sets each number in the struct to each end of its range and to what is
// no number, one at a time, and calls try for it.
func numbers(v reflect.Value, path string, try func(what string)) {
	set := func(extreme reflect.Value) {
		before := reflect.ValueOf(v.Interface())
		v.Set(extreme.Convert(v.Type()))
		try(fmt.Sprintf("%s = %v", path, extreme))
		v.Set(before)
	}
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				numbers(v.Field(i), path+"."+f.Name, try)
			}
		}
	case v.CanInt():
		for _, n := range []int64{math.MaxInt64, math.MinInt64, 1 << 40, 1, -1} {
			set(reflect.ValueOf(n))
		}
	case v.CanUint():
		set(reflect.ValueOf(uint64(math.MaxUint64)))
	case v.CanFloat():
		for _, n := range []float64{math.MaxFloat64, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64} {
			set(reflect.ValueOf(n))
		}
	}
}
