package main

import (
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedmill/feedmill/client"
)

// candidates are what a word that begins like this can become.
type candidates = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// completeFlag completes the value of a flag.
func completeFlag(cmd *cobra.Command, flag string, from candidates) {
	if err := cmd.RegisterFlagCompletionFunc(flag, from); err != nil {
		panic(err) // the flag is named in the program
	}
}

// completeFirst completes the one argument of a command.
func completeFirst(from candidates) candidates {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return from(cmd, args, begun)
	}
}

// completeOf completes to fixed words.
func completeOf(words ...string) candidates {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completePatience is how long a shell waits for a server.
const completePatience = 2 * time.Second

// completeFrom asks the server. Without one there is nothing to complete to,
// and no message either: it would stand in the middle of a command line.
func completeFrom(ask func(ctx context.Context, c *client.Client, found func(word, meaning string)) error) candidates {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completePatience)
		defer cancel()
		server, err := cmd.Flags().GetString("server")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		profile, err := cmd.Flags().GetString("profile")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := dial(target{server, profile}, io.Discard)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c.Tries = 1
		var words []string
		err = ask(ctx, c, func(word, meaning string) {
			words = append(words, cobra.CompletionWithDesc(plain(word), plain(meaning)))
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

var completeTypes = completeFrom(func(ctx context.Context, c *client.Client, found func(word, meaning string)) error {
	types, err := c.EventTypes(ctx)
	for _, t := range types {
		if t.Status == "available" {
			found(t.Name, t.Description)
		}
	}
	return err
})

// completeEventNames completes the last of several names, which may be
// families as well as types.
func completeEventNames(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	before := begun[:strings.LastIndex(begun, ",")+1]
	types, directive := completeTypes(cmd, args, begun)
	var words []string
	for _, t := range types {
		name, _, _ := strings.Cut(t, "\t")
		family := name[:strings.LastIndex(name, ".")+1] + "*"
		if all := before + family + "\tall types of the family"; !slices.Contains(words, all) {
			words = append(words, all)
		}
		words = append(words, before+t)
	}
	return words, directive
}

// completeNewest completes to the newest records of a list, with what word makes
// of each.
func completeNewest[T any](all func(*client.Client, context.Context) iter.Seq2[T, error], word func(T) (id, meaning string)) candidates {
	return completeFrom(func(ctx context.Context, c *client.Client, found func(word, meaning string)) error {
		const most = 200
		n := 0
		for v, err := range all(paged(c, most), ctx) {
			if err != nil || n == most {
				return err
			}
			n++
			found(word(v))
		}
		return nil
	})
}

var completeSubscriptions = completeNewest((*client.Client).Subscriptions, func(s client.Subscription) (id, meaning string) {
	if s.Name != "" {
		return s.ID, s.Name + ", " + s.URL
	}
	return s.ID, s.URL
})

var completeFeeds = completeNewest((*client.Client).DataFeeds, func(f client.DataFeed) (id, meaning string) { return f.ID, f.Name })
