import { describeRoute } from 'hono-openapi'
import type { z } from 'zod'
import {
  InferenceServers,
  ProviderProfiles,
  PublicConfiguration,
  PublicOrganization,
  PublicOrganizations,
  PublicProviders,
} from './schema'
import { answers, describeErrors, paging } from '../../http/documentation'
import type { ErrorCode } from '../../errors'
import { Branding } from '../../platform/settings/branding'

interface PublicRoute {
  operationId: string
  summary: string
  answer: z.ZodType
  path?: readonly string[]
  query?: readonly string[]
}

const parameter = (place: 'path' | 'query') => (name: string) => ({
  name,
  in: place,
  required: place === 'path',
  schema: { type: 'string' as const },
})

const publicRoute = ({ operationId, summary, answer, path = [], query = [] }: PublicRoute) => {
  const missing: ErrorCode[] = path.length > 0 ? ['resource_not_found'] : []
  return describeRoute({
    operationId,
    summary,
    tags: ['Public'],
    security: [],
    parameters: [...path.map(parameter('path')), ...query.map(parameter('query'))],
    responses: {
      ...answers(200, summary, answer),
      ...describeErrors('invalid_request', 'rate_limit_exceeded', ...missing),
    },
  })
}

const searched = ['search', ...paging]

export const listPublicProviders = publicRoute({
  operationId: 'listPublicProviders',
  summary: 'Who serves models here',
  answer: PublicProviders,
})

export const getPublicConfiguration = publicRoute({
  operationId: 'getPublicConfiguration',
  summary: 'What this service can do',
  answer: PublicConfiguration,
})

export const getPublicBranding = publicRoute({
  operationId: 'getPublicBranding',
  summary: 'How this service presents itself',
  answer: Branding.meta({ ref: 'Branding' }),
})

export const listPublicOrganizations = publicRoute({
  operationId: 'listPublicOrganizations',
  summary: 'Organizations that show themselves',
  query: searched,
  answer: PublicOrganizations,
})

export const getPublicOrganization = publicRoute({
  operationId: 'getPublicOrganization',
  summary: 'One of them, with the models that it serves to its members',
  path: ['slug'],
  answer: PublicOrganization,
})

export const listInferenceServers = publicRoute({
  operationId: 'listInferenceServers',
  summary: 'What public organizations serve, and how well',
  query: searched,
  answer: InferenceServers,
})

export const listProviderProfiles = publicRoute({
  operationId: 'listProviderProfiles',
  summary: 'Providers, and public organizations that serve models',
  query: searched,
  answer: ProviderProfiles,
})
