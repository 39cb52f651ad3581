import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { describeMovement, toCreditNoteAmounts, type DocumentAmounts } from './credit-note'
import type { ReversalMovement } from './credit-note'

const cent = 10_000_000n
const cents = (max: number) => fc.integer({ min: 1, max }).map((count) => BigInt(count) * cent)

const invoice: fc.Arbitrary<DocumentAmounts> = cents(100_000).chain((total) =>
  fc
    .option(fc.integer({ min: 0, max: Number(total / cent) }))
    .map((tax) => ({ total, taxAmount: tax === null ? null : BigInt(tax) * cent })),
)

/** Movements of one payment: what is taken back is at most what was paid, and what is returned was taken back. */
function toMovements(paid: bigint, steps: readonly number[]): ReversalMovement[] {
  let takenBack = 0n
  return steps.flatMap((step, index) => {
    const next = (paid / cent) * BigInt(step)
    const target = (next / 100n) * cent
    const amount = target - takenBack
    takenBack = target
    return amount === 0n ? [] : [{ subject: `movement_${index}`, kind: 'refund' as const, amount }]
  })
}

/** Numbers and documents as they are stored: the primary key is the subject. */
interface Store {
  notes: Map<string, DocumentAmounts>
  numbers: number
}

/** Issues what is due, in order, up to a crash: a note whose transaction did not end is not there, nor is its number. */
function issue(
  store: Store,
  paid: DocumentAmounts,
  { movements, until }: { movements: readonly ReversalMovement[]; until: number },
): void {
  const due = movements.filter(({ subject }) => !store.notes.has(subject))
  for (const movement of due.slice(0, until)) {
    const earlier = [...store.notes.values()]
    store.notes.set(movement.subject, toCreditNoteAmounts(paid, earlier, movement))
    store.numbers++
  }
}

const steps = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 12 })
const crashes = fc.array(fc.record({ seen: fc.nat(12), until: fc.nat(4) }), { maxLength: 12 })

test('each refund has one credit note with the same amounts, after any crashes and repeats', () => {
  const property = fc.property(invoice, steps, crashes, (paid, targets, rounds) => {
    const movements = toMovements(paid.total, targets)
    const store: Store = { notes: new Map(), numbers: 0 }
    for (const { seen, until } of rounds) {
      issue(store, paid, { movements: movements.slice(0, seen), until })
    }
    issue(store, paid, { movements, until: movements.length })
    issue(store, paid, { movements, until: movements.length })
    const undisturbed: Store = { notes: new Map(), numbers: 0 }
    issue(undisturbed, paid, { movements, until: movements.length })
    expect(store.numbers).toBe(movements.length)
    expect(store.notes).toEqual(undisturbed.notes)
  })
  fc.assert(property, { numRuns: 2000 })
})

test('invoice and credit notes add up to the rest of the payment, and their taxes never exceed it', () => {
  const property = fc.property(invoice, steps, (paid, targets) => {
    const movements = toMovements(paid.total, targets)
    let [total, tax] = [paid.total, paid.taxAmount ?? 0n]
    const earlier: DocumentAmounts[] = []
    for (const movement of movements) {
      const note = toCreditNoteAmounts(paid, earlier, movement)
      earlier.push(note)
      total += note.total
      tax += note.taxAmount ?? 0n
      expect(note.taxAmount === null).toBe(paid.taxAmount === null)
      expect((note.taxAmount ?? 0n) % cent).toBe(0n)
      expect(tax >= 0n && tax <= (paid.taxAmount ?? 0n) && tax <= total).toBe(true)
    }
    expect(total).toBe(movements.reduce((rest, { amount }) => rest - amount, paid.total))
    if (total === 0n) expect(tax).toBe(0n)
    if (total === paid.total) expect(tax).toBe(paid.taxAmount ?? 0n)
  })
  fc.assert(property, { numRuns: 2000 })
})

test.each([
  ['Credits, refunded', 'refund', 5n],
  ['Credits, payment disputed', 'dispute', 5n],
  ['Credits, refund that was not carried out', 'refund', -5n],
] as const)('a movement is described as "%s"', (text, kind, amount) => {
  expect(describeMovement({ subject: 'x', kind, amount })).toBe(text)
})
