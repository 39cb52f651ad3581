import { Branding, ChangedBranding } from './schema'
import { operator } from '../../../http/access'
import { present } from '../../../http/fields'
import { route, type Route } from '../../../http/route'
import type { BrandingStore } from '../../../platform/settings/branding'

const tag = 'Branding'
const access = operator()
const path = '/api/admin/branding'

/** Branding of the installation, for the operator. Source: contract 9.2. */
export const brandingRoutes = (branding: BrandingStore): Route[] => [
  getBranding(branding),
  changeBranding(branding),
]

const getBranding = (branding: BrandingStore) =>
  route({
    method: 'get',
    path,
    access: operator({ roles: ['read_only'] }),
    operationId: 'getBranding',
    tag,
    summary: 'Get the branding',
    responses: { 200: Branding },
    handler: () => branding.get(),
  })

const changeBranding = (branding: BrandingStore) =>
  route({
    method: 'put',
    path,
    access,
    operationId: 'changeBranding',
    tag,
    summary: 'Update the branding',
    body: ChangedBranding,
    examples: { 'A name': { name: 'Our gateway' } },
    responses: { 200: Branding },
    handler: ({ body }) => branding.change(present(body)),
  })
