import { usdOf, wholeNumber } from './number'
import { pageOptions, rest, rowsOf } from './pages'
import { json, UsageError } from './server'
import { facts, table } from './table'
import type { Asked, Group, Option } from './verb'

const prices: Readonly<Record<string, Option>> = {
  input: { value: 'usd', about: 'a million tokens of input' },
  output: { value: 'usd', about: 'a million tokens of output' },
  'cached-input': { value: 'usd', about: 'a million cached tokens of input' },
}

function pricingOf(asked: Asked) {
  const [input, output] = [usdOf(asked, 'input'), usdOf(asked, 'output')]
  if (input === undefined && output === undefined) return undefined
  if (input === undefined || output === undefined) {
    throw new UsageError('--input and --output go together.')
  }
  return { input, output, cached_input: usdOf(asked, 'cached-input') ?? null }
}

/** Ids have slashes: in a path they are escaped. */
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
      options: { provider: { value: 'name', about: 'only of this one' }, ...pageOptions },
      run: list,
    },
    show: { words: ['model'], about: 'all that is known of a model', run: show },
    create: {
      words: ['model'],
      about: 'add a model, or take one of the catalogue over',
      options: {
        name: { value: 'text', about: 'how it is called; as its id otherwise' },
        category: { value: 'chat|completion|embedding', about: 'what it does; chat otherwise' },
        'upstream-model': { value: 'name', about: 'how its provider calls it' },
        context: { value: 'tokens', about: 'the length of its context' },
        'max-output': { value: 'tokens', about: 'the most that it answers' },
        free: { about: 'costs nothing' },
        ...prices,
      },
      run: create,
    },
    price: {
      words: ['model'],
      about: 'set what it costs, now or from a moment on',
      options: { ...prices, from: { value: 'time', about: 'such as 2030-01-01T00:00:00Z' } },
      run: price,
    },
    enable: {
      words: ['model'],
      about: 'serve a model',
      run: (asked) => change(asked, { enabled: true }),
    },
    disable: {
      words: ['model'],
      about: 'serve it no more',
      run: (asked) => change(asked, { enabled: false }),
    },
  },
}
