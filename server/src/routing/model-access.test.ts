import { expect, test } from 'bun:test'
import { findCollectionRefusal, findModelRefusal } from './model-access'
import { accessListsWith } from '../../testing/auth/access-lists'
import { sampleModel, sampleProvider } from '../../testing/catalog/samples'
import { findModelByName } from '../catalog/model-names'
import { toSnapshot } from '../catalog/snapshot'
import type { AccessListName, AccessLists } from '../platform/access-lists'

const model = (id: string) => {
  const [provider = '', ...names] = id.split('/')
  const name = names.join('/')
  return sampleModel({ id, provider, name, upstreamModel: name })
}

const snapshot = toSnapshot({
  providers: ['openai', 'google', 'bedrock'].map((key) => sampleProvider({ key, name: key })),
  models: [
    model('openai/gpt-4o'),
    model('google/gemini-2.5-pro'),
    model('bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0'),
  ],
  connections: [],
})

const named = (name: string) => {
  const found = findModelByName(snapshot, name)
  if (!found) throw new Error(`there is no model "${name}"`)
  return found
}

test.each<[string, Partial<AccessLists>, AccessListName | undefined]>([
  ['openai/gpt-4o', {}, undefined],
  ['openai/gpt-4o', { denied_models: ['openai/gpt-4o-latest'] }, 'denied_models'],
  ['openai/gpt-4o-2024-08-06', { denied_models: ['openai/gpt-4o'] }, 'denied_models'],
  ['openai/gpt-4o-2024-08-06', { denied_models: ['openai/gpt-4o-2024-08-06'] }, 'denied_models'],
  ['openai/gpt-4o-2024-05-13', { denied_models: ['openai/gpt-4o-2024-08-06'] }, undefined],
  ['openai/gpt-4o', { denied_models: ['openai/gpt-4o-2024-08-06'] }, undefined],
  ['bedrock/claude-sonnet-4-5', { denied_models: ['bedrock/claude-sonnet-4-5'] }, 'denied_models'],
  // Other gateways' names of a provider.
  ['google/gemini-2.5-pro', { denied_models: ['gemini/gemini-2.5-pro'] }, 'denied_models'],
  ['google/gemini-2.5-pro', { denied_models: ['gemini/*'] }, 'denied_models'],
  ['google/gemini-2.5-pro', { denied_providers: ['gemini'] }, 'denied_providers'],
  ['google/gemini-2.5-pro', { allowed_providers: ['gemini'] }, undefined],
  ['openai/gpt-4o', { allowed_providers: ['gemini'] }, 'allowed_providers'],
  [
    'openai/gpt-4o',
    { denied_providers: ['openai'], allowed_models: ['openai/gpt-4o'] },
    'denied_providers',
  ],
  [
    'openai/gpt-4o',
    { allowed_providers: ['openai'], allowed_models: ['google/*'] },
    'allowed_models',
  ],
])('%s with %j is rejected by %p', (name, lists, list) => {
  expect(findModelRefusal(named(name), accessListsWith(lists), snapshot)).toBe(list)
})

test.each<[Partial<AccessLists>, AccessListName | undefined]>([
  [{}, undefined],
  [{ denied_collections: ['collection/fast'] }, 'denied_collections'],
  [{ denied_collections: ['collection/*'] }, 'denied_collections'],
  [
    { denied_collections: ['collection/fast'], allowed_collections: ['collection/*'] },
    'denied_collections',
  ],
  [{ allowed_collections: ['collection/slow'] }, 'allowed_collections'],
  [{ allowed_collections: ['collection/fast'] }, undefined],
  // Lists of models say nothing about names of collections.
  [{ allowed_models: ['openai/*'] }, undefined],
])('a collection with %j is rejected by %p', (lists, list) => {
  expect(findCollectionRefusal('fast', accessListsWith(lists))).toBe(list)
})
