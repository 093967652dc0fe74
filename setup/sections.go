package setup

import (
	"reflect"

	"blis/bundle"
)

// poolSections are the sections of a policy bundle that a pool can have for itself.
var poolSections = []string{"routing", "scheduler", "autoscale", "observability"}

// overlay gives b what other gives of the sections that a pool can have for itself: policies with
// all of their parameters, and single fields.
func overlay(b, other *bundle.Bundle) {
	for _, name := range poolSections {
		overlaySection(b, other, name)
	}
}

func overlaySection(b, other *bundle.Bundle, section string) {
	selection := func(into, from *bundle.Selection) {
		if from.Type != "" {
			*into = *from
		}
	}
	switch section {
	case "routing":
		selection(&b.Routing, &other.Routing)
	case "scheduler":
		selection(&b.Scheduler, &other.Scheduler)
	case "autoscale":
		overlayFields(reflect.ValueOf(&b.Autoscale).Elem(), reflect.ValueOf(other.Autoscale))
	case "observability":
		overlayFields(reflect.ValueOf(&b.Observability).Elem(), reflect.ValueOf(other.Observability))
	}
}

// setSection makes a section of b that of other.
func setSection(b, other *bundle.Bundle, section string) {
	switch section {
	case "routing":
		b.Routing = other.Routing
	case "scheduler":
		b.Scheduler = other.Scheduler
	case "autoscale":
		b.Autoscale = other.Autoscale
	case "observability":
		b.Observability = other.Observability
	}
}

// overlayFields sets the fields, and items of arrays, that other has.
func overlayFields(v, other reflect.Value) {
	for i := range v.NumField() {
		into, from := v.Field(i), other.Field(i)
		switch {
		case from.Kind() == reflect.Array:
			for j := range from.Len() {
				if !from.Index(j).IsZero() {
					into.Index(j).Set(from.Index(j))
				}
			}
		case !from.IsZero():
			into.Set(from)
		}
	}
}
