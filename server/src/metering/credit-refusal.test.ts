import { expect, test } from 'bun:test'
import { InsufficientCredit } from '../ledger/credit-demand'
import { fullCharge } from './charge-ratio'
import { refuseByAllowance, refuseByBalance } from './credit-refusal'

const price = {
  pricing: { input: 1n, output: 2n },
  minute: 0,
  chargeRatio: fullCharge,
  volume: {
    inputTokens: 1,
    maxPromptTokens: 1,
    serviceTier: undefined,
    choices: 1,
    outputLimit: 1,
    extraOutputTokens: 0,
    inputsAudio: false,
    outputsAudio: false,
    images: 0,
    requests: 1,
    searches: 0,
  },
}

test('a refusal writes amounts of any size in plain decimal digits', () => {
  const limit = { id: 'user_1', requests: null, spend: 5n }
  const remainder = { remaining: 1n, limit, window: { fromMs: 0, toMs: 1 } }
  expect(refuseByAllowance(remainder, 120n, price).message).toBe(
    "0.000000001 USD remain of this month's spending limit; this request requires 0.00000012 USD.",
  )
  const balance = refuseByBalance(new InsufficientCredit(7n, 1_500_000_000n), 0n, price)
  expect(balance.message).toBe(
    'Your available balance is 0.000000007 USD; this request requires 1.5 USD.',
  )
})
