import { describe, expect, test } from 'bun:test'
import { receivesUrls } from './url-receivers'
import type { ConnectionOptions } from '../providers/connection-options'
import { providers } from '../providers/registry'
import type { ProviderConnection } from '../catalog/snapshot'

interface Server {
  baseUrl?: string | null
  options?: ConnectionOptions
  owner?: string | null
}

/** Whether the server of a connection to a provider gets URLs; a provider that is not built in is an operator's. */
function receives(key: string, { baseUrl = null, options = {}, owner = null }: Server): boolean {
  const [builtIn] = providers.filter((provider) => provider.key === key)
  const [openai] = providers
  if (!openai) throw new Error('no provider')
  const connection: ProviderConnection = {
    id: 'conn_1',
    provider: key,
    name: key,
    owner,
    baseUrl,
    secret: null,
    options,
    network: null,
    headers: null,
    priority: 1,
    isDefault: false,
    isFailing: false,
    rpm: null,
    tpm: null,
    imagesPerMinute: null,
    audioSecondsPerMinute: null,
    gatewayId: null,
    onlyModels: null,
  }
  return receivesUrls({ provider: builtIn ?? { ...openai, key }, connection })
}

describe('finding S26: a server receives URLs of a customer', () => {
  test.each<[string, Server]>([
    ['openai', {}],
    ['openai', { baseUrl: 'https://eu.api.openai.com/v1' }],
    ['azure', { baseUrl: 'https://a.openai.azure.com/openai/v1' }],
    ['vertex', { baseUrl: 'https://aiplatform.googleapis.com/v1/projects/p' }],
    ['custom', { baseUrl: 'https://engine.example.com', options: { remote_urls: 'passed' } }],
    ['local', { baseUrl: 'http://127.0.0.1:8000/v1', options: { remote_urls: 'passed' } }],
    // A customer's or an organization's own.
    ['custom', { baseUrl: 'https://engine.example.com', owner: 'org_1' }],
  ])('for %s at %j', (key, server) => {
    expect(receives(key, server)).toBe(true)
  })

  test.each<[string, Server]>([
    ['local', { baseUrl: 'http://127.0.0.1:8000/v1' }],
    ['custom', { baseUrl: 'https://engine.example.com' }],
    ['mine', { baseUrl: 'https://engine.example.com' }],
    ['mine', {}],
    ['openai', { baseUrl: 'http://10.0.0.7:8000/v1' }],
    ['openai', { baseUrl: 'http://vllm:8000/v1' }],
    ['openai', { baseUrl: 'https://vllm.default.svc.cluster.local/v1' }],
    ['openai', { baseUrl: 'http://[::1]:8000/v1' }],
    ['anthropic', { baseUrl: 'http://localhost:8000' }],
    ['openai', { options: { remote_urls: 'rejected' } }],
  ])('not of %s at %j', (key, server) => {
    expect(receives(key, server)).toBe(false)
  })
})
