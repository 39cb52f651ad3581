import { expect, test } from 'bun:test'
import { UnansweredUse } from './unanswered-use'
import type { Provider } from '../providers/provider'
import type { Loss } from '../upstream/classify-loss'
import { noUsage } from '../wire/usage'

const prompt = { ...noUsage, input: 100, estimated: true }
const settings = (unansweredRequests: 'charge' | 'waive' = 'charge') => ({
  current: { unansweredRequests },
})

const neverCounted = (): never => {
  throw new Error('this costs time')
}

test.each<[Loss, Provider['abort'], 'charged' | 'free' | 'nothing']>([
  ['ended', 'stops', 'charged'],
  ['ended', 'unknown', 'charged'],
  ['ended', 'bills_all', 'charged'],
  ['ended', 'free', 'free'],
  ['failed', 'stops', 'nothing'],
  ['failed', 'unknown', 'nothing'],
  ['failed', 'bills_all', 'charged'],
  ['failed', 'free', 'nothing'],
])(
  'finding M10: after %s at a provider of the kind %s, the prompt is %s',
  (loss, abort, expected) => {
    for (const operator of ['charge', 'waive'] as const) {
      const use = new UnansweredUse(settings(operator))
      use.recordLoss({ loss, provider: { abort }, usage: () => prompt })
      const isFree = expected === 'free' || operator === 'waive'
      const isWaived = expected === 'charged' && operator === 'waive'
      expect(use.total).toEqual(
        expected === 'nothing'
          ? undefined
          : { usage: prompt, isFree, ...(isWaived && { isWaived }) },
      )
    }
  },
)

test('finding M10: answered parts are paid beside the lost ones', () => {
  const use = new UnansweredUse(settings())
  use.recordAnswer({ ...noUsage, input: 3, output: 4 })
  use.recordLoss({ loss: 'ended', provider: { abort: 'stops' }, usage: () => prompt })
  use.recordLoss({ loss: 'failed', provider: { abort: 'stops' }, usage: () => prompt })
  const usage = { ...noUsage, input: 103, output: 4, estimated: true }
  expect(use.total).toEqual({ usage, isFree: false })
})

test('finding M10: nothing is estimated where nothing is billed', () => {
  const use = new UnansweredUse(settings())
  use.recordLoss({ loss: 'failed', provider: { abort: 'stops' }, usage: neverCounted })
  expect(use.total).toBeUndefined()
})
