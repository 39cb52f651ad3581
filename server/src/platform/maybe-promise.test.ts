import { describe, expect, test } from 'bun:test'
import { chain, rescue } from './maybe-promise'

const double = (value: number) => value * 2
const failure = new Error('no value')
const fail = (): number => {
  throw failure
}

describe('chain', () => {
  test('continues in the same tick with a value that is at hand', () => {
    expect(chain(2, double)).toBe(4)
  })

  test('continues with the value of a promise, and passes its rejection on', async () => {
    expect(await chain(Promise.resolve(2), double)).toBe(4)
    await expect(chain(Promise.reject(failure), double)).rejects.toBe(failure)
  })

  test('accepts a continuation that returns a promise', async () => {
    expect(await chain(2, async (value) => double(value))).toBe(4)
  })
})

describe('rescue', () => {
  test('returns a result in the same tick, or a promise of it', async () => {
    expect(rescue(() => 2, fail)).toBe(2)
    expect(await rescue(async () => 2, fail)).toBe(2)
  })

  test('returns the result of the handler for an error that is thrown or rejected with', async () => {
    expect(rescue(fail, (error) => (error === failure ? 3 : 0))).toBe(3)
    expect(
      await rescue(
        () => Promise.reject(failure),
        (error) => (error === failure ? 3 : 0),
      ),
    ).toBe(3)
  })

  test('throws or rejects with the error of the handler', async () => {
    expect(() => rescue(fail, fail)).toThrow(failure)
    await expect(rescue(() => Promise.reject(new Error('first')), fail)).rejects.toBe(failure)
  })
})
