import { expect, test } from 'bun:test'
import { collectedBytes, engineEnvironment } from '../../../bin/engine.mjs'

const gigabyte = 1_000_000_000

test.each([
  [24 * gigabyte, 2, 700_000_000],
  [8 * gigabyte, 4, 700_000_000],
  [1.2 * gigabyte, 1, 600_000_000],
  [2 * gigabyte, 4, 400_000_000],
  [0.5 * gigabyte, 1, 400_000_000],
])(
  'with %p bytes of memory and %p processors the engine collects more often from %p on',
  (memory, processors, bytes) => {
    expect(collectedBytes(memory, processors)).toBe(bytes)
  },
)

test('an existing setting of the engine is kept', () => {
  const { environment } = engineEnvironment({ BUN_JSC_forceRAMSize: '123456789' })
  expect(environment['BUN_JSC_forceRAMSize']).toBe('123456789')
  expect(engineEnvironment({}).environment['BUN_JSC_forceRAMSize']).toBe(String(collectedBytes()))
})
