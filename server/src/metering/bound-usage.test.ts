import { expect, test } from 'bun:test'
import { boundUsage } from './bound-usage'
import { noUsage } from '../wire/usage'

const volume = {
  inputTokens: 20_000,
  inputTokensByBytes: 50_000,
  maxPromptTokens: 20_000,
  serviceTier: undefined,
  choices: 1,
  outputLimit: 100,
  extraOutputTokens: 0,
  inputsAudio: false,
  outputsAudio: false,
  images: 0,
  requests: 1,
  searches: 0,
}
const grounds = {
  volume,
  outputLimit: 100,
  gainedTokens: 0,
  contextLength: null,
  hasOwnLimit: true,
  isOthers: false,
  pricing: undefined,
  elapsedMs: 0,
}
const read = (input: number) => ({ ...noUsage, input, output: 10 })

test('finding M23: beyond a closer hold the count of the payer’s own provider is believed up to the bytes', () => {
  expect(boundUsage(read(30_000), grounds)).toMatchObject({ input: 30_000, flawed: false })
  expect(boundUsage(read(60_000), grounds)).toMatchObject({ input: 50_000, flawed: true })
})

test('an estimate, a flawed count and the count of a third party are not believed beyond it', () => {
  const usage = read(30_000)
  expect(boundUsage({ ...usage, estimated: true }, grounds)).toMatchObject({ input: 20_000 })
  expect(boundUsage({ ...usage, flawed: true }, grounds)).toMatchObject({ input: 20_000 })
  expect(boundUsage(usage, { ...grounds, isOthers: true })).toMatchObject({ input: 20_000 })
})

test('without a closer hold it is the bytes that count', () => {
  const { inputTokensByBytes: _bytes, ...plain } = volume
  const bounded = boundUsage(read(30_000), { ...grounds, volume: plain })
  expect(bounded).toMatchObject({ input: 20_000, flawed: true })
})
