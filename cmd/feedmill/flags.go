package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill"
	"github.com/feedmill/feedmill/client"
)

func limitFlag(cmd *cobra.Command) *int {
	limit := 50
	cmd.Flags().Var((*limitValue)(&limit), "limit", "maximum number of items; 0 lists all")
	return &limit
}

type limitValue int

func (v *limitValue) String() string { return strconv.Itoa(int(*v)) }
func (v *limitValue) Type() string   { return "number" }

func (v *limitValue) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return errors.New("must be an integer, 0 or more")
	}
	*v = limitValue(n)
	return nil
}

// timeFlag is a point in time that can also be told by how long ago it was.
func timeFlag(cmd *cobra.Command, name, help string) *time.Time {
	var at time.Time
	cmd.Flags().Var((*timeValue)(&at), name, help+"; such as 24h (ago), 2026-11-15, or 2026-11-15T12:00:00Z")
	return &at
}

type timeValue time.Time

func (v *timeValue) Type() string { return "time" }

func (v *timeValue) String() string {
	if time.Time(*v).IsZero() {
		return ""
	}
	return time.Time(*v).Format(time.RFC3339)
}

func (v *timeValue) Set(text string) error {
	if ago, err := feedmill.ParseDuration(text); err == nil {
		*v = timeValue(time.Now().Add(-ago))
		return nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		*v = timeValue(at)
		return nil
	}
	for _, layout := range []string{time.DateOnly, time.DateTime} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			*v = timeValue(at)
			return nil
		}
	}
	return errors.New("must be a duration such as 24h or 7d (ago), a date such as 2026-11-15, or a time such as 2026-11-15T12:00:00Z")
}

// expiryFlag is a point in time to come, which can also be told by how long it
// is until then.
func expiryFlag(cmd *cobra.Command) *time.Time {
	var at time.Time
	cmd.Flags().Var((*expiryValue)(&at), "expires", "when it expires; such as 90d (from now), 2026-12-31, or 2026-12-31T12:00:00Z")
	return &at
}

type expiryValue time.Time

func (v *expiryValue) Type() string   { return "time" }
func (v *expiryValue) String() string { return (*timeValue)(v).String() }

func (v *expiryValue) Set(text string) error {
	if in, err := feedmill.ParseDuration(text); err == nil {
		*v = expiryValue(time.Now().Add(in))
		return nil
	}
	return (*timeValue)(v).Set(text)
}

type durationValue client.Duration

func (v *durationValue) Type() string { return "duration" }

func (v *durationValue) String() string {
	if *v == 0 {
		return ""
	}
	return client.Duration(*v).String()
}

func (v *durationValue) Set(text string) error {
	return (*client.Duration)(v).UnmarshalText([]byte(text))
}

// rateValue is a rate limit such as 10 (a second) or 100/1m; none is no limit.
type rateValue struct{ *client.RateLimit }

func (v *rateValue) Type() string { return "number[/duration]" }

func (v *rateValue) String() string {
	if v.RateLimit == nil {
		return ""
	}
	return rateText(v.RateLimit)
}

func (v *rateValue) Set(text string) error {
	if text == "none" {
		v.RateLimit = nil
		return nil
	}
	number, per, timed := strings.Cut(text, "/")
	var limit client.RateLimit
	var err error
	if limit.Requests, err = strconv.Atoi(number); err == nil && timed {
		err = limit.Per.UnmarshalText([]byte(per))
	}
	if err != nil {
		return errors.New("must be requests per second such as 10, requests per time such as 100/1m, or none")
	}
	v.RateLimit = &limit
	return nil
}

func rateText(r *client.RateLimit) string {
	if r == nil {
		return "none"
	}
	per := r.Per
	if per == 0 {
		per = client.Duration(time.Second)
	}
	return fmt.Sprintf("%d/%s", r.Requests, per)
}

// batchValue is a batch such as 50 (events) or 50/5s. The value none turns batches off.
type batchValue struct{ *client.Batch }

func (v *batchValue) Type() string { return "number[/duration]" }

func (v *batchValue) String() string {
	if v.Batch == nil {
		return ""
	}
	return batchText(v.Batch)
}

func (v *batchValue) Set(text string) error {
	if text == "none" {
		v.Batch = nil
		return nil
	}
	number, wait, timed := strings.Cut(text, "/")
	var batch client.Batch
	var err error
	if batch.MaxEvents, err = strconv.Atoi(number); err == nil && timed {
		batch.MaxWait = new(client.Duration)
		err = batch.MaxWait.UnmarshalText([]byte(wait))
	}
	if err != nil {
		return errors.New("must be a number of events such as 50, events and a wait such as 50/5s, or none")
	}
	v.Batch = &batch
	return nil
}

// batchText is a batch as the flag has it; empty for none.
func batchText(b *client.Batch) string {
	switch {
	case b == nil:
		return ""
	case b.MaxWait == nil:
		return strconv.Itoa(b.MaxEvents)
	}
	return fmt.Sprintf("%d/%s", b.MaxEvents, b.MaxWait)
}

// namedValues reads what a flag was given of the form name=value. A value of the
// form @file is what the file holds, which keeps it off the command line, where
// everybody on the machine can read it.
func namedValues(flag string, pairs []string) (map[string]string, error) {
	var values map[string]string
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usagef("%s must be name=value or name=@file", flag)
		}
		if file, ok := strings.CutPrefix(value, "@"); ok {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", flag, err)
			}
			value = strings.TrimRight(string(text), "\r\n")
		}
		if values == nil {
			values = make(map[string]string)
		}
		values[name] = value
	}
	return values, nil
}
