import { Hono } from 'hono'
import { publicRoutes, type PublicStores } from '../../api/public/routes'
import type { Env } from '../../http/env'
import type { Guards } from '../../http/guards'

/** `/api/public`. */
export const publicEndpoints = (stores: PublicStores, guards: Guards) =>
  new Hono<Env>().route('/', publicRoutes(stores, guards))
