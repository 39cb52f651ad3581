import { Hono } from 'hono'
import { described } from './description'
import { ChangedConfig } from './schema'
import type { ConfigStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'

/** The settings of the installation, for the operator. Source: contract 9.2. */
export const configRoutes = (config: ConfigStore, { operator }: Guards) =>
  new Hono<Env>()
    .get('/api/admin/config', described.get, operator, async (c) => c.json(await config.get()))
    .put('/api/admin/config', described.change, operator, async (c) =>
      c.json(await config.change(await readChangedFields(c, ChangedConfig))),
    )
