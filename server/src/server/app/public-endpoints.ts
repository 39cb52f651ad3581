import { publicRoutes, type PublicStores } from '../../api/public/routes'
import type { Guards } from '../../http/guards'
import { mount } from '../../http/mount'

/** `/api/public`. */
export const publicEndpoints = (stores: PublicStores, guards: Guards) =>
  mount(guards, publicRoutes(stores))
