package calibrate

import (
	"fmt"

	"blis/calibrate/measured"
)

// StepGroup is the steps of one run out of a file of several.
type StepGroup struct {
	Experiment, Model string // empty: the file does not say
	TP                int    // 0: the file does not say
	Steps             []measured.Step
}

// Name is "experiment, model, TP n", of what is known.
func (g *StepGroup) Name() string {
	name := ""
	add := func(text string) {
		if name != "" && text != "" {
			name += ", "
		}
		name += text
	}
	add(g.Experiment)
	add(g.Model)
	if g.TP > 0 {
		add(fmt.Sprintf("TP %d", g.TP))
	}
	return name
}

// GroupSteps sorts the steps of measured.ReadSteps or of a measured.Trace by
// run, in the order in which runs first appear. With Features and the settings
// of its engine a group makes StepData.
func GroupSteps(steps []measured.Step) []StepGroup {
	type key struct {
		experiment, model string
		tp                int
	}
	var list []StepGroup
	places := map[key]int{}
	for _, s := range steps {
		k := key{s.Experiment, s.Model, s.TP}
		place, known := places[k]
		if !known {
			place = len(list)
			places[k] = place
			list = append(list, StepGroup{Experiment: s.Experiment, Model: s.Model, TP: s.TP})
		}
		list[place].Steps = append(list[place].Steps, s)
	}
	return list
}
