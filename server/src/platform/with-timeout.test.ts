import { expect, test } from 'bun:test'
import { withTimeout } from './with-timeout'
import { isOutage } from '../http/render'

const never = () => new Promise<never>(() => undefined)

test('what comes in time is given, or thrown, as it is', async () => {
  expect(await withTimeout(Promise.resolve(7), 1000)).toBe(7)
  const failed = new Error('refused')
  await expect(withTimeout(Promise.reject(failed), 1000)).rejects.toBe(failed)
})

test('what does not is rejected: as an outage, or as its asker says', async () => {
  const late = await withTimeout(never(), 1).catch((thrown: unknown) => thrown)
  expect(isOutage(late)).toBe(true)
  const own = new RangeError('too slow')
  await expect(withTimeout(never(), 1, () => own)).rejects.toBe(own)
})

test('what fails after that is nobody’s rejection', async () => {
  const asked = Promise.withResolvers<never>()
  await expect(withTimeout(asked.promise, 1)).rejects.toThrow('no answer')
  asked.reject(new Error('late'))
  // The runner fails on a rejection that nobody handled.
  await Bun.sleep(1)
})
