import {
  AnsweredProvider,
  ChangedProvider,
  NewProvider,
  ProviderFilter,
  ProviderList,
} from './schema'
import type { ProviderStore } from './store'
import { operator } from '../../../http/access'
import { Success, objectId } from '../../../http/answers'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Providers'
const access = operator()
const path = '/api/admin/providers'
const params = { id: objectId('prov').describe('ID of the provider; its key if it is built in') }

/** Providers beside the built-in ones, for the operator. Source: contract 9.2. */
export const providerRoutes = (providers: ProviderStore): Route[] => [
  listProviders(providers),
  createProvider(providers),
  getProvider(providers),
  changeProvider(providers),
  deleteProvider(providers),
]

const listProviders = (providers: ProviderStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['read_only'] }),
    operationId: 'listProviders',
    tag,
    summary: 'List providers',
    notes: 'Added ones first, then built-in ones.',
    query: ProviderFilter,
    responses: { 200: ProviderList },
    handler: ({ query }) =>
      providers.list(toPage(query, `providers ${query.search ?? ''}`), query.search),
  })

const createProvider = (providers: ProviderStore) =>
  route({
    method: 'post',
    path,
    access,
    operationId: 'createProvider',
    tag,
    summary: 'Add a provider',
    body: NewProvider,
    examples: {
      'An OpenAI-compatible server': {
        key: 'mine',
        name: 'Mine',
        adapter: 'openai',
        base_url: 'https://models.example/v1',
      },
    },
    responses: { 201: AnsweredProvider },
    handler: ({ body }) => providers.create(body),
  })

const getProvider = (providers: ProviderStore) =>
  route({
    method: 'get',
    path: `${path}/:id`,
    access: operator({ roles: ['read_only'] }),
    operationId: 'getProvider',
    tag,
    summary: 'Get a provider',
    params,
    responses: { 200: AnsweredProvider },
    handler: ({ params: { id } }) => providers.get(id),
  })

const changeProvider = (providers: ProviderStore) =>
  route({
    method: 'put',
    path: `${path}/:id`,
    access,
    operationId: 'changeProvider',
    tag,
    summary: 'Update an added provider',
    params,
    body: ChangedProvider,
    examples: { Disable: { enabled: false } },
    responses: { 200: AnsweredProvider },
    handler: ({ params: { id }, body }) => providers.change(id, body),
  })

const deleteProvider = (providers: ProviderStore) =>
  route({
    method: 'delete',
    path: `${path}/:id`,
    access,
    operationId: 'deleteProvider',
    tag,
    summary: 'Delete an added provider',
    notes: 'Rejected while it has models or connections.',
    params,
    responses: { 200: Success },
    handler: ({ params: { id } }) => providers.delete(id),
  })
