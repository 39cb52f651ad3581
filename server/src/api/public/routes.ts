import { Hono, type Context } from 'hono'
import type { ConfigurationView } from './configuration'
import * as described from './description'
import type { OrganizationView } from './organizations'
import type { ProfileView } from './profiles'
import type { ProviderView } from './providers'
import type { ServerView } from './servers'
import type { Env } from '../../http/env'
import type { Guards } from '../../http/guards'
import { toPage, toSearch } from '../../http/paging'
import type { BrandingStore } from '../../platform/settings/branding'

const root = '/api/public'

export interface PublicStores {
  branding: BrandingStore
  publicProviders: ProviderView
  publicConfiguration: ConfigurationView
  publicOrganizations: OrganizationView
  publicServers: ServerView
  publicProfiles: ProfileView
}

const searchedPage = (c: Context<Env>, list: string) => {
  const search = toSearch(c)
  return [toPage(c, `public ${list} ${search ?? ''}`), search] as const
}

/** Public routes, without authentication. Source: contract 9.1. */
export const publicRoutes = (stores: PublicStores, { public: anybody }: Guards) =>
  new Hono<Env>()
    .get(`${root}/providers`, described.listPublicProviders, anybody, async (c) =>
      c.json(await stores.publicProviders.list()),
    )
    .get(`${root}/config`, described.getPublicConfiguration, anybody, async (c) =>
      c.json(await stores.publicConfiguration.get(new URL(c.req.url).origin)),
    )
    .get(`${root}/branding`, described.getPublicBranding, anybody, async (c) =>
      c.json(await stores.branding.get()),
    )
    .get(`${root}/organizations`, described.listPublicOrganizations, anybody, async (c) =>
      c.json(await stores.publicOrganizations.list(...searchedPage(c, 'organizations'))),
    )
    .get(`${root}/organization/:slug`, described.getPublicOrganization, anybody, async (c) =>
      c.json(await stores.publicOrganizations.get(c.req.param('slug'))),
    )
    .get(`${root}/inference-servers`, described.listInferenceServers, anybody, async (c) =>
      c.json(await stores.publicServers.list(...searchedPage(c, 'servers'))),
    )
    .get(`${root}/provider-profiles`, described.listProviderProfiles, anybody, async (c) =>
      c.json(await stores.publicProfiles.list(...searchedPage(c, 'profiles'))),
    )
