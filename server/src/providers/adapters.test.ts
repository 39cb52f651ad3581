import { expect, test } from 'bun:test'
import { adapterOf } from './adapters'
import { dialects } from './provider'

test('every dialect is relayed, answered in the process, or has an adapter', () => {
  const without = dialects.filter((dialect) => !adapterOf({ dialect }))
  expect(without).toEqual(['openai', 'sandbox'])
})
