import { z } from 'zod'
import type { ConfigurationView } from './configuration'
import type { OrganizationView } from './organizations'
import type { ProfileView } from './profiles'
import type { ProviderView } from './providers'
import {
  InferenceServers,
  ProviderProfiles,
  PublicConfiguration,
  PublicFilter,
  PublicOrganization,
  PublicOrganizations,
  PublicProviders,
} from './schema'
import type { ServerView } from './servers'
import { unauthenticated } from '../../http/access'
import { toPage } from '../../http/paging'
import { route, type Route } from '../../http/route'
import { Branding, type BrandingStore } from '../../platform/settings/branding'

const tag = 'Public'
const access = unauthenticated
const root = '/api/public'

export interface PublicStores {
  branding: BrandingStore
  publicProviders: ProviderView
  publicConfiguration: ConfigurationView
  publicOrganizations: OrganizationView
  publicServers: ServerView
  publicProfiles: ProfileView
}

/** Public routes, without authentication. Source: contract 9.1. */
export const publicRoutes = (stores: PublicStores): Route[] => [
  listPublicProviders(stores.publicProviders),
  getPublicConfiguration(stores.publicConfiguration),
  getPublicBranding(stores.branding),
  listPublicOrganizations(stores.publicOrganizations),
  getPublicOrganization(stores.publicOrganizations),
  listInferenceServers(stores.publicServers),
  listProviderProfiles(stores.publicProfiles),
]

const listPublicProviders = (providers: ProviderView) =>
  route({
    method: 'get',
    path: `${root}/providers`,
    access,
    operationId: 'listPublicProviders',
    tag,
    summary: 'List providers',
    notes: "`status` covers the platform's connections in the last five minutes.",
    responses: { 200: PublicProviders },
    handler: () => providers.list(),
  })

const getPublicConfiguration = (configuration: ConfigurationView) =>
  route({
    method: 'get',
    path: `${root}/config`,
    access,
    operationId: 'getPublicConfiguration',
    tag,
    summary: 'Get the public configuration',
    notes: 'Features, sign-up, default limits and the address for clients.',
    responses: { 200: PublicConfiguration },
    handler: ({ c }) => configuration.get(new URL(c.req.url).origin),
  })

const getPublicBranding = (branding: BrandingStore) =>
  route({
    method: 'get',
    path: `${root}/branding`,
    access,
    operationId: 'getPublicBranding',
    tag,
    summary: 'Get the branding',
    notes: 'Name, logo, colors and links of the installation.',
    responses: { 200: Branding.meta({ ref: 'Branding' }) },
    handler: () => branding.get(),
  })

const listPublicOrganizations = (organizations: OrganizationView) =>
  route({
    method: 'get',
    path: `${root}/organizations`,
    access,
    operationId: 'listPublicOrganizations',
    tag,
    summary: 'List public organizations',
    notes: 'Organizations that their owners made public.',
    query: PublicFilter,
    responses: { 200: PublicOrganizations },
    handler: ({ query }) =>
      organizations.list(toPage(query, `public organizations ${query.search ?? ''}`), query.search),
  })

const getPublicOrganization = (organizations: OrganizationView) =>
  route({
    method: 'get',
    path: `${root}/organization/:slug`,
    access,
    operationId: 'getPublicOrganization',
    tag,
    summary: 'Get a public organization',
    notes: 'With the models that it serves to its members.',
    params: {
      slug: z
        .string()
        .describe('Slug of the organization')
        .meta({ examples: ['acme'] }),
    },
    responses: { 200: PublicOrganization },
    handler: ({ params: { slug } }) => organizations.get(slug),
  })

const listInferenceServers = (servers: ServerView) =>
  route({
    method: 'get',
    path: `${root}/inference-servers`,
    access,
    operationId: 'listInferenceServers',
    tag,
    summary: 'List the inference servers of public organizations',
    notes: 'With latency and uptime of the last 24 hours.',
    query: PublicFilter,
    responses: { 200: InferenceServers },
    handler: ({ query }) =>
      servers.list(toPage(query, `public servers ${query.search ?? ''}`), query.search),
  })

const listProviderProfiles = (profiles: ProfileView) =>
  route({
    method: 'get',
    path: `${root}/provider-profiles`,
    access,
    operationId: 'listProviderProfiles',
    tag,
    summary: 'List provider profiles',
    notes: 'Of providers, and of public organizations that serve models.',
    query: PublicFilter,
    responses: { 200: ProviderProfiles },
    handler: ({ query }) =>
      profiles.list(toPage(query, `public profiles ${query.search ?? ''}`), query.search),
  })
