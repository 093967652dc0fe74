package actors

import (
	"blis/engine"
	"blis/lookahead"
	"blis/vtime"
	"blis/workload"
)

// Messages between instances and the storage tiers that they share.

// asker is who asks a storage tier: a rank of an instance, after so many crashes of that. An answer to
// one that has crashed since is for nobody.
type asker struct {
	rank    uint16
	crashes uint16 // modulo 2¹⁵: an instance does not crash so often while it waits for an answer
}

// asker returns who asks as things are.
func (r *rank) asker() asker {
	return asker{uint16(r.index), uint16(r.incarnation().number) & 0x7fff}
}

func (a asker) word() uint64 { return uint64(a.rank) | uint64(a.crashes)<<16 }

func readAsker(word uint64) asker { return asker{uint16(word), uint16(word >> 16)} }

// sendStorageOp hands the storage tier to an operation of from at now.
func sendStorageOp(out *lookahead.Outbox, to lookahead.ProcessID, now vtime.Time, from asker, op *engine.StorageOp) {
	fields := 2
	for i := range op.Parts {
		fields += 6 + 2*len(op.Parts[i].Spans)
	}
	out.BeginNotice(to, lookahead.Key{At: now, Class: vtime.ClassNotice}, storageNotice, kindStorage, fields)
	out.Uint(uint64(op.Kind) | from.word()<<8)
	out.Int(int64(op.Number))
	for i := range op.Parts {
		p := &op.Parts[i]
		out.Uint(p.ID)
		out.Int(int64(p.Input))
		out.Uint(uint64(p.Output))
		out.Int(int64(p.From))
		out.Int(int64(p.To))
		out.Int(int64(len(p.Spans)))
		for _, s := range p.Spans {
			out.Uint(uint64(s.Content))
			out.Int(int64(s.Length))
		}
	}
	out.End()
}

// readStorageOp is the inverse of sendStorageOp. It uses the memory of op again.
func readStorageOp(b *lookahead.Decoder, op *engine.StorageOp) (from asker) {
	word := b.Uint()
	from = readAsker(word >> 8)
	op.Kind, op.Number = engine.StorageKind(word), int32(b.Int())
	op.Parts = op.Parts[:0]
	for b.Left() > 0 {
		if n := len(op.Parts); n < cap(op.Parts) {
			op.Parts = op.Parts[:n+1] // with the memory of its spans
		} else {
			op.Parts = append(op.Parts, engine.StoragePart{})
		}
		p := &op.Parts[len(op.Parts)-1]
		p.ID, p.Input, p.Output = b.Uint(), int32(b.Int()), workload.ContentID(b.Uint())
		p.From, p.To = int32(b.Int()), int32(b.Int())
		p.Spans = p.Spans[:0]
		for n := b.Int(); n > 0 && b.Err() == nil; n-- {
			p.Spans = append(p.Spans, workload.Span{Content: workload.ContentID(b.Uint()), Length: int32(b.Int())})
		}
	}
	mustDecode(b)
	return from
}

// sendStorageAnswer answers an operation of a rank of instance to, from, when it ends.
func sendStorageAnswer(out *lookahead.Outbox, to lookahead.ProcessID, from asker, a *engine.StorageAnswer) {
	out.Begin(to, lookahead.Key{At: a.End, Class: vtime.ClassTransfer}, kindStorageAnswer, 4)
	out.Int(int64(a.Number) | int64(from.word())<<32)
	out.Int(int64(a.Entries))
	out.Int(int64(a.Start))
	out.Int(a.Used)
	out.End()
}

func readStorageAnswer(m *lookahead.Message) (to asker, a engine.StorageAnswer) {
	b := &m.Body
	word := b.Int()
	to = readAsker(uint64(word) >> 32)
	a.Number, a.Entries, a.Start, a.Used, a.End = int32(word), int32(b.Int()), vtime.Time(b.Int()), b.Int(), m.Stamp.At
	mustDecode(b)
	return to, a
}
