import { Hono } from 'hono'
import { described } from './description'
import { ChangedBranding } from './schema'
import type { Env } from '../../../http/env'
import { readChangedFields, present } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import type { BrandingStore } from '../../../platform/settings/branding'

const path = '/api/admin/branding'

/** Branding of the installation, for the operator. Source: contract 9.2. */
export const brandingRoutes = (branding: BrandingStore, { operator }: Guards) =>
  new Hono<Env>()
    .get(path, described.get, operator, async (c) => c.json(await branding.get()))
    .put(path, described.change, operator, async (c) =>
      c.json(await branding.change(present(await readChangedFields(c, ChangedBranding)))),
    )
