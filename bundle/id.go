package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"blis/policy"
	"blis/vtime"
)

// ID returns what names these policies whatever file they came from: the SHA-256, as 64
// hexadecimal digits, of the JSON of the completed bundle (see Complete) without its
// metadata. A number and a duration count by value, so that 5, 5.0 and +5 give one ID,
// and so do 1s and 1000ms. The order of weights counts: it is the order of a sum. A program
// counts by its text, not by the name of its file, which Read must have read.
//
// Single fields that the bundle does not give are not completed. To compare the policies
// of runs, take the bundle of the effective configuration, which gives all of them. A
// bad type or parameter is a *policy.Error.
func (b Bundle) ID() (string, error) {
	b, err := b.Complete()
	if err != nil {
		return "", err
	}
	if unread := b.Files(); len(unread) > 0 {
		return "", fmt.Errorf("bundle: %s has not been read, so these policies have no ID", unread[0])
	}
	b.Metadata = nil
	b.canonical()
	text, err := b.MarshalJSON()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// canonical writes every value of a completed bundle in one way. Lists of parameters must
// belong to the bundle alone, as those from Complete do.
func (b *Bundle) canonical() {
	list := sections()
	for i := range list {
		s := &list[i]
		if s.selection != nil {
			s.selection(b).canonical(policy.Kind(s.name))
		}
		for k := range s.fields {
			if f := &s.fields[k]; f.choice != nil { // a duration is kept by value already
				text := f.choice(b)
				*text = canonicalText(&f.Parameter, *text)
			}
		}
	}
}

func (c *Selection) canonical(kind policy.Kind) {
	t, err := c.template(kind)
	if err != nil {
		return // Complete has refused it
	}
	params := c.Params[:0]
	for _, s := range c.Params {
		p := t.Parameter(s.Name)
		switch {
		case p == nil:
		case p.Type == policy.Path:
			continue // what the file has counts
		default:
			s.Value = canonicalText(p, s.Value)
		}
		params = append(params, s)
	}
	c.Params = params
}

// canonicalText returns the one way to write an allowed value of a parameter. Texts
// without a value, such as words, are returned as they are.
func canonicalText(p *policy.Parameter, text string) string {
	if p.IsNumber() {
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return strconv.FormatFloat(x+0, 'g', -1, 64) // −0 is 0
		}
		return text
	}
	switch p.Type {
	case policy.Duration, policy.Freshness:
		if d, err := vtime.ParseDuration(text); err == nil {
			return d.String()
		}
	case policy.RandomDuration:
		if mean, cv, err := policy.ParseRandomDuration(text); err == nil {
			text = mean.String()
			if cv > 0 {
				text += ",cv=" + strconv.FormatFloat(cv, 'g', -1, 64)
			}
		}
	case policy.Triggers:
		items := strings.Split(text, ",")
		for i := range items {
			items[i] = strings.Join(strings.Fields(items[i]), " ")
		}
		return strings.Join(items, ",")
	}
	return text
}
