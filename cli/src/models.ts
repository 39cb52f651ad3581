import { choiceOf } from './choice'
import { usdOf, parseInteger } from './number'
import { pageOptions, formatRemainder, rowsOf } from './pages'
import { bodyOf, UsageError } from './server'
import { facts, table } from './table'
import type { Invocation, Group, Option } from './verb'

const categories = [
  'chat',
  'completion',
  'embedding',
  'moderation',
  'rerank',
  'image',
  'speech',
  'transcription',
] as const

const prices: Readonly<Record<string, Option>> = {
  input: { value: 'usd', about: 'price of a million input tokens' },
  output: { value: 'usd', about: 'price of a million output tokens' },
  'cached-input': { value: 'usd', about: 'price of a million cached input tokens' },
  'image-output': { value: 'usd', about: 'price of a million tokens of images in the answer' },
  'made-image': { value: 'usd', about: 'price of an image in the answer' },
  'made-megapixel': { value: 'usd', about: 'price of a million pixels of these images' },
}

/** Returns the rates of images in the answer; undefined where none is named. */
function imageRatesOf(invocation: Invocation) {
  const rates = {
    image_output: usdOf(invocation, 'image-output') ?? null,
    made_image: usdOf(invocation, 'made-image') ?? null,
    made_megapixel: usdOf(invocation, 'made-megapixel') ?? null,
  }
  return Object.values(rates).some((rate) => rate !== null) ? rates : undefined
}

function pricingOf(invocation: Invocation) {
  const [input, output] = [usdOf(invocation, 'input'), usdOf(invocation, 'output')]
  const images = imageRatesOf(invocation)
  if (input === undefined && output === undefined && !images) return undefined
  if (!images && (input === undefined || output === undefined)) {
    throw new UsageError('--input and --output are required together.')
  }
  const cachedInput = usdOf(invocation, 'cached-input') ?? null
  return { input: input ?? 0, output: output ?? 0, cached_input: cachedInput, ...images }
}

const output = (model: object) => ({ text: facts({ ...model }), json: model })

const paramsOf = ({ positionals: [id = ''] }: Invocation) => ({ path: { id } })

async function change(invocation: Invocation, body: { enabled: boolean }) {
  const params = paramsOf(invocation)
  return output(await bodyOf(invocation.operator.PUT('/api/admin/models/{id}', { params, body })))
}

async function list(invocation: Invocation) {
  const { operator, value } = invocation
  const { rows, total } = await rowsOf(invocation, async (page) => {
    const query = { ...page, provider: value('provider') || undefined }
    const body = await bodyOf(operator.GET('/api/admin/models', { params: { query } }))
    return { rows: body.models, pagination: body.pagination }
  })
  const text = table(rows, [
    ['ID', ({ id }) => id],
    ['CATEGORY', ({ category }) => category],
    ['CONTEXT', ({ context_length }) => context_length],
    ['INPUT USD/M', ({ pricing, is_free }) => (is_free ? 0 : pricing?.input)],
    ['OUTPUT USD/M', ({ pricing, is_free }) => (is_free ? 0 : pricing?.output)],
    ['ENABLED', ({ enabled }) => enabled],
  ])
  return { text: text + formatRemainder(rows.length, total), json: { models: rows, total } }
}

async function create(invocation: Invocation) {
  const { operator, positionals, value, has } = invocation
  const [id = ''] = positionals
  const body = {
    id,
    name: value('name') ?? id.slice(id.indexOf('/') + 1),
    category: choiceOf('category', value('category') ?? 'chat', categories),
    upstream_model: value('upstream-model'),
    context_length: parseInteger(invocation, 'context'),
    max_output_tokens: parseInteger(invocation, 'max-output'),
    pricing: pricingOf(invocation),
    is_free: has('free') || undefined,
  }
  return output(await bodyOf(operator.POST('/api/admin/models', { body })))
}

async function show(invocation: Invocation) {
  const params = paramsOf(invocation)
  return output(await bodyOf(invocation.operator.GET('/api/admin/models/{id}', { params })))
}

async function price(invocation: Invocation) {
  const pricing = pricingOf(invocation)
  if (pricing === undefined)
    throw new UsageError('Name --input and --output, or a price of images.')
  const params = paramsOf(invocation)
  const body = { pricing, effective_at: invocation.value('from') }
  const answer = invocation.operator.PUT('/api/admin/models/{id}/prices', { params, body })
  return output(await bodyOf(answer))
}

/** The catalogue. */
export const models: Group = {
  name: 'models',
  about: 'the catalogue. A <model> is <provider>/<name>',
  verbs: {
    list: {
      positionals: [],
      about: 'list models',
      options: {
        provider: { value: 'name', about: 'only models of this provider' },
        ...pageOptions,
      },
      run: list,
    },
    show: { positionals: ['model'], about: 'show all fields of a model', run: show },
    create: {
      positionals: ['model'],
      about: 'add a model, or override one of the catalogue',
      options: {
        name: { value: 'text', about: 'display name; its id by default' },
        category: { value: categories.join('|'), about: 'its kind; chat by default' },
        'upstream-model': { value: 'name', about: 'its name at the provider' },
        context: { value: 'tokens', about: 'its context length' },
        'max-output': { value: 'tokens', about: 'the maximum length of an answer' },
        free: { about: 'costs nothing' },
        ...prices,
      },
      run: create,
    },
    price: {
      positionals: ['model'],
      about: 'set its price, now or from a given time',
      options: { ...prices, from: { value: 'time', about: 'such as 2030-01-01T00:00:00Z' } },
      run: price,
    },
    enable: {
      positionals: ['model'],
      about: 'enable a model',
      run: (invocation) => change(invocation, { enabled: true }),
    },
    disable: {
      positionals: ['model'],
      about: 'disable a model',
      run: (invocation) => change(invocation, { enabled: false }),
    },
  },
}
