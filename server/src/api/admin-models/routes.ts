import { Hono, type Context } from 'hono'
import { described } from './description'
import { ModelFilters } from './list'
import type { PriceStore } from './prices'
import { ChangedModel, NewModel, NewPrice } from './schema'
import type { ModelStore } from './store'
import type { Env } from '../../http/env'
import { changedFields, newFields } from '../../http/fields'
import type { Guards } from '../../http/guards'
import { modelIdIn } from '../../http/model-path'
import { pageOf, searchOf } from '../../http/paging'
import { check } from '../../wire/json-body'

const paths = '/api/admin/models'
const one = `${paths}/:id{[\\s\\S]+}`
const priced = `${one}/prices`

const asksPrices = (c: Context<Env>) => /\/prices\/?$/.test(c.req.raw.url.replace(/[?#].*$/s, ''))

/** Where it cannot be decoded it is no model's. */
const pricedIn = (c: Context<Env>) => modelIdIn(c.req.raw.url, `${paths}/`, '/prices') ?? ''

const setPrice = async (prices: PriceStore, c: Context<Env>) =>
  c.json(await prices.set(pricedIn(c), await changedFields(c, NewPrice)))

const listPrices = async (prices: PriceStore, c: Context<Env>) =>
  c.json(await prices.list(pricedIn(c)))

/** What the routes read and write. */
export interface AdminModelStores {
  models: ModelStore
  prices: PriceStore
}

/** The catalogue, for the operator; the slash of an id may be raw or encoded. Source: contract 9.2. */
export const adminModelRoutes = ({ models, prices }: AdminModelStores, { operator }: Guards) =>
  new Hono<Env>()
    .get(paths, described.list, operator, (c) => {
      const search = searchOf(c)
      const filters = check(ModelFilters, c.req.query())
      const page = pageOf(c, `models ${search ?? ''} ${JSON.stringify(filters)}`)
      return c.json(models.list(page, { ...filters, search }))
    })
    .post(paths, described.create, operator, async (c) =>
      c.json(await models.create(await newFields(c, NewModel)), 201),
    )
    .get(priced, described.listPrices, operator, (c) => listPrices(prices, c))
    .put(priced, described.setPrice, operator, (c) => setPrice(prices, c))
    // The router takes all of the path for the id, and not only what stands before `/prices`.
    .get(one, described.get, operator, async (c) =>
      asksPrices(c) ? listPrices(prices, c) : c.json(models.get(c.req.param('id'))),
    )
    .put(one, described.change, operator, async (c) =>
      asksPrices(c)
        ? setPrice(prices, c)
        : c.json(await models.change(c.req.param('id'), await changedFields(c, ChangedModel))),
    )
    .delete(one, described.delete, operator, async (c) =>
      c.json(await models.delete(c.req.param('id'))),
    )
