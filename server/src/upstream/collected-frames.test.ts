import { expect, test } from 'bun:test'
import { CollectedFrames } from './collected-frames'
import { LargeEvents } from './large-events'

const megabyte = 1024 * 1024
const frame = 'x'.repeat(megabyte)
const full = expect.objectContaining({ code: 'gateway_unavailable', status: 503 })

test('finding V12: the frames of a whole answer count in the memory of large events', () => {
  const events = new LargeEvents(8 * megabyte)
  {
    using collected = new CollectedFrames(events, 'acc_1')
    // Small ones are not counted.
    collected.add('a')
    expect(events.bytes).toBe(0)
    collected.add(frame)
    collected.add(frame)
    expect(events.bytes).toBe(2 * megabyte + 1)
    collected.add('鯨'.repeat(megabyte / 2))
    expect(events.bytes).toBe(3 * megabyte + 1)
    expect(() => collected.add(frame)).toThrow(full)
    expect(collected.frames).toHaveLength(5)
  }
  expect(events.bytes).toBe(0)
})

test('finding V12: frames are too long beyond four whole answers', () => {
  const events = new LargeEvents(1024 * megabyte)
  using collected = new CollectedFrames(events, 'acc_1')
  for (let count = 0; count < 80; count++) collected.add(frame)
  expect(() => collected.add(frame)).toThrow('the frames of a whole answer are too long')
})
