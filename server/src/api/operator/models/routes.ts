import { Hono, type Context } from 'hono'
import { described } from './description'
import { ModelFilters } from './list'
import type { PriceStore } from './prices'
import { ChangedModel, NewModel, NewPrice } from './schema'
import type { ModelStore } from './store'
import type { Env } from '../../../http/env'
import { readChangedFields, readNewFields } from '../../../http/fields'
import type { Guards } from '../../../http/guards'
import { parseModelId } from '../../../http/model-path'
import { toPage, toSearch } from '../../../http/paging'
import { check } from '../../../wire/json-body'

const paths = '/api/admin/models'
const one = `${paths}/:id{[\\s\\S]+}`
const priced = `${one}/prices`

const asksPrices = (c: Context<Env>) => /\/prices\/?$/.test(c.req.raw.url.replace(/[?#].*$/s, ''))

/** A path that cannot be decoded matches no model. */
const pricedIn = (c: Context<Env>) => parseModelId(c.req.raw.url, `${paths}/`, '/prices') ?? ''

const setPrice = async (prices: PriceStore, c: Context<Env>) =>
  c.json(await prices.set(pricedIn(c), await readChangedFields(c, NewPrice)))

const listPrices = async (prices: PriceStore, c: Context<Env>) =>
  c.json(await prices.list(pricedIn(c)))

/** The stores that the routes use. */
export interface AdminModelStores {
  models: ModelStore
  prices: PriceStore
}

/** The catalogue, for the operator; the slash of an id may be raw or encoded. Source: contract 9.2. */
export const adminModelRoutes = ({ models, prices }: AdminModelStores, { operator }: Guards) =>
  new Hono<Env>()
    .get(paths, described.list, operator, (c) => {
      const search = toSearch(c)
      const filters = check(ModelFilters, c.req.query())
      const page = toPage(c, `models ${search ?? ''} ${JSON.stringify(filters)}`)
      return c.json(models.list(page, { ...filters, search }))
    })
    .post(paths, described.create, operator, async (c) =>
      c.json(await models.create(await readNewFields(c, NewModel)), 201),
    )
    .get(priced, described.listPrices, operator, (c) => listPrices(prices, c))
    .put(priced, described.setPrice, operator, (c) => setPrice(prices, c))
    // The router takes the whole rest of the path for the id, including `/prices`.
    .get(one, described.get, operator, async (c) =>
      asksPrices(c) ? listPrices(prices, c) : c.json(models.get(c.req.param('id'))),
    )
    .put(one, described.change, operator, async (c) =>
      asksPrices(c)
        ? setPrice(prices, c)
        : c.json(await models.change(c.req.param('id'), await readChangedFields(c, ChangedModel))),
    )
    .delete(one, described.delete, operator, async (c) =>
      c.json(await models.delete(c.req.param('id'))),
    )
