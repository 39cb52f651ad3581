import { expect, test } from 'bun:test'
import { findBareName } from './bare-names'
import { toSnapshot } from './snapshot'
import { sampleModel, sampleProvider } from '../../testing/catalog/samples'

const model = (id: string, fields: Parameters<typeof sampleModel>[0] = {}) =>
  sampleModel({ id, provider: id.slice(0, id.indexOf('/')), name: id, ...fields })

const providers = ['openai', 'anthropic', 'mistral', 'deepseek', 'azure', 'openrouter', 'own']
const snapshot = toSnapshot({
  providers: providers.map((key) => sampleProvider({ key, name: key })),
  models: [
    model('openai/gpt-5.4'),
    model('azure/gpt-5.4'),
    model('openrouter/openai/gpt-5.4'),
    model('anthropic/claude-haiku-4-5-20251001'),
    model('mistral/shared'),
    model('deepseek/shared'),
    model('mistral/shared-2'),
    model('deepseek/shared-2', { enabled: false }),
    model('azure/only-hosted'),
    model('own/only-own'),
    model('openai/hidden', { enabled: false }),
  ],
  connections: [],
})

test.each([
  ['gpt-5.4', 'openai/gpt-5.4'],
  // An alias: without its date, with the maker's suffix, with dashes.
  ['claude-haiku-4-5', 'anthropic/claude-haiku-4-5'],
  ['claude-haiku-4-5-latest', 'anthropic/claude-haiku-4-5-latest'],
  ['gpt-5-4', 'openai/gpt-5-4'],
  ['shared-2', 'mistral/shared-2'],
  ['shared', undefined],
  ['only-hosted', undefined],
  ['only-own', undefined],
  ['hidden', undefined],
  ['unknown', undefined],
  ['', undefined],
  ['__proto__', undefined],
])('finding D3: %p means %p', (name, id) => {
  expect(findBareName(snapshot, name)).toBe(id)
})
