import { Hono } from 'hono'
import * as described from './description'
import type { OwnKeyStore } from './store'
import type { Env } from '../../../http/env'
import { readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { NewKey } from '../../../keys/schema'

const paths = '/api/account/keys'
const one = `${paths}/:id`

/** The keys of the calling account. Source: contract 6.4. */
export const keyRoutes = (keys: OwnKeyStore, { account }: Guards) =>
  new Hono<Env>()
    .get(paths, described.listKeys, account('admin', 'account'), async (c) =>
      c.json(await keys.list(c.var.principal)),
    )
    .post(paths, described.createKey, account('admin', 'account'), async (c) =>
      c.json(await keys.create(c.var.principal, await readNewFields(c, NewKey)), 201),
    )
    .post(`${one}/rotate`, described.rotateKey, account('admin', 'account'), async (c) =>
      c.json(await keys.rotate(c.var.principal, c.req.param('id'))),
    )
    .delete(one, described.deleteKey, account('admin', 'account'), async (c) =>
      c.json(await keys.delete(c.var.principal, c.req.param('id'))),
    )
