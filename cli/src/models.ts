import { usdOf, wholeNumber } from './number'
import { pageOptions, rest, rowsOf } from './pages'
import { json, UsageError } from './server'
import { facts, table } from './table'
import type { Asked, Group, Option } from './verb'

const prices: Readonly<Record<string, Option>> = {
  input: { value: 'usd', about: 'price of a million input tokens' },
  output: { value: 'usd', about: 'price of a million output tokens' },
  'cached-input': { value: 'usd', about: 'price of a million cached input tokens' },
}

function pricingOf(asked: Asked) {
  const [input, output] = [usdOf(asked, 'input'), usdOf(asked, 'output')]
  if (input === undefined && output === undefined) return undefined
  if (input === undefined || output === undefined) {
    throw new UsageError('--input and --output are required together.')
  }
  return { input, output, cached_input: usdOf(asked, 'cached-input') ?? null }
}

/** Escapes the id for a path, as ids have slashes. */
const one = ({ words: [id = ''] }: Asked) => ({ param: { id: encodeURIComponent(id) } })

async function change(asked: Asked, fields: object) {
  const model = asked.operator.models[':id{[\\s\\S]+}']
  const answer = await (await model.$put(one(asked), json(fields))).json()
  return { text: facts({ ...answer }), json: answer }
}

async function list(asked: Asked) {
  const { operator, value } = asked
  const provider = value('provider')
  const { rows, total } = await rowsOf(asked, async (query) => {
    const filter = { ...query, ...(provider && { provider }) }
    const { models, pagination } = await (await operator.models.$get({ query: filter })).json()
    return { rows: models, pagination }
  })
  const text = table(rows, [
    ['ID', ({ id }) => id],
    ['CATEGORY', ({ category }) => category],
    ['CONTEXT', ({ context_length }) => context_length],
    ['INPUT USD/M', ({ pricing, is_free }) => (is_free ? 0 : pricing?.input)],
    ['OUTPUT USD/M', ({ pricing, is_free }) => (is_free ? 0 : pricing?.output)],
    ['ENABLED', ({ enabled }) => enabled],
  ])
  return { text: text + rest(rows.length, total), json: { models: rows, total } }
}

async function create(asked: Asked) {
  const { operator, words, value, has } = asked
  const [id = ''] = words
  const body = {
    id,
    name: value('name') ?? id.slice(id.indexOf('/') + 1),
    category: value('category') ?? 'chat',
    upstream_model: value('upstream-model'),
    context_length: wholeNumber(asked, 'context'),
    max_output_tokens: wholeNumber(asked, 'max-output'),
    pricing: pricingOf(asked),
    ...(has('free') && { is_free: true }),
  }
  const model = await (await operator.models.$post({}, json(body))).json()
  return { text: facts({ ...model }), json: model }
}

async function show(asked: Asked) {
  const answer = await (await asked.operator.models[':id{[\\s\\S]+}'].$get(one(asked))).json()
  return { text: facts({ ...answer }), json: answer }
}

async function price(asked: Asked) {
  const pricing = pricingOf(asked)
  if (pricing === undefined) throw new UsageError('Name --input and --output.')
  const from = asked.value('from')
  const body = { pricing, ...(from !== undefined && { effective_at: from }) }
  const prices = asked.operator.models[':id{[\\s\\S]+}'].prices
  const answer = await (await prices.$put(one(asked), json(body))).json()
  return { text: facts({ ...answer }), json: answer }
}

/** The catalogue. */
export const models: Group = {
  name: 'models',
  about: 'the catalogue. A <model> is <provider>/<name>',
  verbs: {
    list: {
      words: [],
      about: 'list models',
      options: {
        provider: { value: 'name', about: 'only models of this provider' },
        ...pageOptions,
      },
      run: list,
    },
    show: { words: ['model'], about: 'show all fields of a model', run: show },
    create: {
      words: ['model'],
      about: 'add a model, or override one of the catalogue',
      options: {
        name: { value: 'text', about: 'display name; its id by default' },
        category: { value: 'chat|completion|embedding', about: 'its kind; chat by default' },
        'upstream-model': { value: 'name', about: 'its name at the provider' },
        context: { value: 'tokens', about: 'its context length' },
        'max-output': { value: 'tokens', about: 'the maximum length of an answer' },
        free: { about: 'costs nothing' },
        ...prices,
      },
      run: create,
    },
    price: {
      words: ['model'],
      about: 'set its price, now or from a given time',
      options: { ...prices, from: { value: 'time', about: 'such as 2030-01-01T00:00:00Z' } },
      run: price,
    },
    enable: {
      words: ['model'],
      about: 'enable a model',
      run: (asked) => change(asked, { enabled: true }),
    },
    disable: {
      words: ['model'],
      about: 'disable a model',
      run: (asked) => change(asked, { enabled: false }),
    },
  },
}
