import { expect, test } from 'bun:test'
import { OutgoingCalls } from './outgoing-calls'
import { EventTooLong, maxEventLength } from './sse'

const half = 'x'.repeat(maxEventLength / 2)

test.each([
  ['of one call', { name: 'f', isCustom: true, calls: 1 }],
  ['of a call whose name does not come', { name: '', isCustom: true, calls: 1 }],
  ['in JSON', { name: 'f', isCustom: false, calls: 1 }],
  ['of several calls', { name: 'f', isCustom: true, calls: 3 }],
])('arguments %s are as long as a whole answer may be, at most', (_whose, row) => {
  const { name, isCustom, calls } = row
  const outgoing = new OutgoingCalls({ newCallId: () => 'call_1' })
  const ownLength = (maxEventLength - calls * 200) / 2
  const begun = Array.from({ length: calls }, () => outgoing.begin(isCustom))
  const add = (at: number, text: string) => {
    const call = begun[at % calls]
    if (call) outgoing.add(call, { id: '', name, text })
  }
  add(0, `"${half.slice(1, ownLength)}`)
  add(1, half.slice(0, ownLength))
  expect(() => add(2, 'x')).toThrow(EventTooLong)
})

test('calls without arguments are not without number', () => {
  const outgoing = new OutgoingCalls({ newCallId: () => 'call_1' })
  const most = Math.floor(maxEventLength / 200)
  for (let count = 0; count < most; count++) outgoing.begin()
  expect(() => outgoing.begin()).toThrow(EventTooLong)
})

test('arguments that are not sent have no length', () => {
  const outgoing = new OutgoingCalls({ newCallId: () => 'call_1' })
  const call = outgoing.begin()
  outgoing.add(call, { id: '', name: 'f', text: '{}{"q":1}' })
  for (let time = 0; time < 5; time++) outgoing.add(call, { id: '', name: 'f', text: half })
  expect(call.arguments.text).toBe('{"q":1}')
})
