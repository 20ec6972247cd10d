package picture

import (
	"math"
	"strconv"
	"strings"
)

// Tick is a place on an axis with its label. At is a part of the axis, from 0 to 1.
type Tick struct {
	At   float64
	Text string
}

// axis is the axis of values. It has the zero, because bars begin there.
type axis struct{ low, high, step float64 }

// axisSteps is how many steps an axis has, about.
const axisSteps = 3

func newAxis(low, high float64) axis {
	if high == low {
		return axis{0, axisSteps, 1}
	}
	step := niceStep((high - low) / axisSteps)
	return axis{math.Floor(low/step) * step, math.Ceil(high/step) * step, step}
}

// niceStep is the next number up that people like to count by.
func niceStep(least float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{1, 1.5, 2, 2.5, 5} {
		if factor*power >= least {
			return factor * power
		}
	}
	return 10 * power
}

// at is the place of a value, 0 at the top.
func (a axis) at(value float64) float64 { return (a.high - value) / (a.high - a.low) }

// ticks are the lines of the axis, from below. short writes 750k for 750 000.
func (a axis) ticks(short bool) (ticks []Tick) {
	for i := 0; ; i++ {
		value := a.low + float64(i)*a.step
		if value > a.high+a.step/2 {
			return ticks
		}
		if math.Abs(value) < a.step/2 {
			value = 0
		}
		ticks = append(ticks, Tick{a.at(value), a.text(value, short)})
	}
}

// text writes a value with the digits that the step needs.
func (a axis) text(value float64, short bool) string {
	top := max(math.Abs(a.low), math.Abs(a.high))
	for _, unit := range []struct {
		name string
		of   float64
		// from is the greatest value from which the unit is used, in full texts.
		from float64
	}{{"T", 1e12, 1e12}, {"G", 1e9, 1e9}, {"M", 1e6, 1e8}, {"k", 1e3, math.Inf(1)}} {
		if value != 0 && (top >= unit.from || short && top >= unit.of*10) {
			return digits(value/unit.of, a.step/unit.of) + unit.name
		}
	}
	return digits(value, a.step)
}

// digits writes a number with the decimals of a step, and its thousands apart.
func digits(value, step float64) string {
	if e := math.Abs(value); e != 0 && (e >= 1e15 || step < 1e-9) {
		return strconv.FormatFloat(value, 'g', 3, 64)
	}
	decimals := 0
	for s := step; decimals < 9 && math.Abs(s-math.Round(s)) > 1e-6; s *= 10 {
		decimals++
	}
	return Grouped(strconv.FormatFloat(value, 'f', decimals, 64))
}

// Grouped separates the thousands of a number, as all pages do.
func Grouped(text string) string {
	whole, fraction, decimal := strings.Cut(text, ".")
	sign := ""
	if rest, negative := strings.CutPrefix(whole, "-"); negative {
		sign, whole = "−", rest
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "\u202f" + whole[i:]
	}
	if decimal {
		whole += "." + fraction
	}
	return sign + whole
}
