import { AnsweredProvider, ChangedProvider, NewProvider, ProviderList } from './schema'
import { Done, operatorRoute, paging } from '../../../http/documentation'

const tag = 'Providers'
const path = ['id'] as const
const own = { key: 'mine', name: 'Mine', adapter: 'openai', base_url: 'https://models.example/v1' }

export const described = {
  list: operatorRoute({
    operationId: 'listProviders',
    summary: 'Providers that you added, then those that come with Tollgate',
    tag,
    query: ['search', ...paging],
    answer: ProviderList,
  }),
  create: operatorRoute({
    operationId: 'createProvider',
    summary: 'Add a provider',
    tag,
    status: 201,
    answer: AnsweredProvider,
    body: ['NewProvider', NewProvider, { 'A server of your own': own }],
  }),
  get: operatorRoute({
    operationId: 'getProvider',
    summary: 'One provider',
    tag,
    path,
    answer: AnsweredProvider,
  }),
  change: operatorRoute({
    operationId: 'changeProvider',
    summary: 'Change a provider that you added',
    tag,
    path,
    answer: AnsweredProvider,
    body: ['ChangedProvider', ChangedProvider, { 'Switch it off': { enabled: false } }],
  }),
  delete: operatorRoute({
    operationId: 'deleteProvider',
    summary: 'Delete a provider without models and connections',
    tag,
    path,
    answer: Done,
  }),
}
