package ui

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
)

// color is one of a screen, with parts from 0 to 1.
type color [3]float64

var (
	portalGround = color{0xfb / 255.0, 0xfb / 255.0, 0xfa / 255.0}
	white, black = color{1, 1, 1}, color{}
)

// parseColor reads a color such as #0b6e5a.
func parseColor(text string) (c color, ok bool) {
	if len(text) != 7 || text[0] != '#' {
		return c, false
	}
	for i := range c {
		part, err := strconv.ParseUint(text[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return c, false
		}
		c[i] = float64(part) / 255
	}
	return c, true
}

func (c color) String() string {
	part := func(x float64) int { return int(math.Round(x * 255)) }
	return fmt.Sprintf("#%02x%02x%02x", part(c[0]), part(c[1]), part(c[2]))
}

// over is a share of the color on another one.
func (c color) over(ground color, share float64) (mixed color) {
	for i := range c {
		mixed[i] = c[i]*share + ground[i]*(1-share)
	}
	return mixed
}

// contrast is that of two colors by WCAG 2, from 1 to 21.
func (c color) contrast(other color) float64 {
	a, b := c.luminance(), other.luminance()
	return (max(a, b) + .05) / (min(a, b) + .05)
}

func (c color) luminance() float64 {
	linear := func(x float64) float64 {
		if x <= .04045 {
			return x / 12.92
		}
		return math.Pow((x+.055)/1.055, 2.4)
	}
	return .2126*linear(c[0]) + .7152*linear(c[1]) + .0722*linear(c[2])
}

// readable is the lowest contrast of a text with its ground.
const readable = 4.5

// darkened is the color as text on a ground: as it is if it can be read, otherwise darker.
func (c color) darkened(ground color) color {
	for c.contrast(ground) < readable {
		for i := range c {
			c[i] *= .95
		}
	}
	return c
}

// portalStyle sets the colors of the operator. Buttons have the accent itself, and texts one
// that can be read; an empty accent keeps those of Feedmill.
func portalStyle(accent string) template.CSS {
	c, ok := parseColor(accent)
	if !ok {
		return ""
	}
	on := white
	if black.contrast(c) > white.contrast(c) {
		on = black
	}
	soft := c.over(portalGround, .12)
	return template.CSS(fmt.Sprintf(":root{--accent:%s;--accent-soft:%s;--bar-soft:%s;--brand:%s;--on-brand:%s}", c.darkened(soft), soft, c.over(portalGround, .36), c, on))
}
