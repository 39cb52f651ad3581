import { expect, test } from 'bun:test'
import { createHold } from './hold'

test('a held answer continues after its release, and not before', async () => {
  const { hold, heldCount, release } = createHold()
  const order: string[] = []
  const first = hold().then(() => order.push('answered'))
  const second = hold().then(() => order.push('answered'))
  expect(heldCount()).toBe(2)
  // A turn of the event loop, in which all that could go on would have done so.
  await new Promise((resolve) => setImmediate(resolve))
  order.push('released')
  release()
  await Promise.all([first, second])
  expect(order).toEqual(['released', 'answered', 'answered'])
  expect(heldCount()).toBe(0)
})

test('a release does not hold later requests open', async () => {
  const { hold, heldCount, release } = createHold()
  release()
  const later = hold()
  expect(heldCount()).toBe(1)
  release()
  await later
})

test('a wait for a peer ends when the peer disconnects', async () => {
  const { hold, heldCount } = createHold()
  const gone = Promise.withResolvers<void>()
  const held = hold(gone.promise)
  gone.reject(new Error('gone'))
  await expect(held).rejects.toThrow('gone')
  expect(heldCount()).toBe(0)
})
