import { expect, test } from 'bun:test'
import { costAt, selectUsagePrice } from './applied-price'
import { boundImages } from './image-volume'
import { boundRanking, usualTokensPerDocument } from './ranking-volume'
import { audioMsOf, boundTranscription } from './transcription-volume'
import { boundEmbedding } from './volume'
import { computeWorstCase, fullPrice, limitsAt, limitUsage, type TokenBounds } from './worst-case'
import { loadBuiltInModels } from '../catalog/built-in'
import type { Model } from '../catalog/model'
import { readMeasuredBills, type MeasuredBill } from '../../testing/metering/measured-bills'
import { providers } from '../providers/registry'
import { noUsage } from '../wire/usage'

const bills = await readMeasuredBills()
const models = new Map(
  loadBuiltInModels(providers, new Date('2026-11-30')).map((model) => [model.id, model]),
)
const minute = 720

const image = { parts: [{ image: 'data:image/png;base64,AAAA' }] }

const boundKinds: Record<MeasuredBill['kind'], (bill: MeasuredBill, model: Model) => TokenBounds> =
  {
    image({ order: [quality, size, count] }, model) {
      const order = { prompt: 'A lighthouse', count: Number(count), quality, size }
      return boundImages({ ...order, partialImages: 0, inputImages: 2 }, model, 1)
    },
    transcription: (bill) => boundTranscription(soundOf(bill)),
    rerank: ({ order: [documents] }) =>
      boundRanking({
        query: 'one two',
        documents: Array.from({ length: Number(documents) }, () => 'word'),
        maxTokensPerDocument: usualTokensPerDocument,
      }),
    embedding({ order: [inputs], counted }, model) {
      const texts = counted['input'] ? ['A text beside it'] : []
      const images = Array.from({ length: Number(inputs) }, () => image)
      return boundEmbedding([...texts, ...images], { model, decodes: false, requests: 1 })
    },
    moderation: (_bill, model) =>
      boundEmbedding(['a'.repeat(1000)], { model, decodes: false, requests: 1 }),
  }

const soundOf = ({ order: [ms, minSeconds] }: MeasuredBill) => ({
  sound: { ms: Number(ms), isMeasured: true },
  minSeconds: Number(minSeconds),
  textBytes: 0,
  voiceBytes: 0,
})

const byModel = [...Map.groupBy(bills, ({ model }) => model)]

test('there are rows of each kind, and of more than forty models', () => {
  expect(byModel.length).toBeGreaterThan(40)
  expect(new Set(bills.map(({ kind }) => kind)).size).toBe(5)
})

test.each(byModel)('%s costs its published price, and never more than its hold', (id, ofModel) => {
  const model = models.get(id)
  if (!model?.pricing) throw new Error(`${id} has no price.`)
  const { pricing } = model
  for (const bill of ofModel) {
    const volume = boundKinds[bill.kind](bill, model)
    const counted = { ...noUsage, ...bill.counted }
    const usage = limitUsage(counted, limitsAt(volume, volume.outputLimit))
    const cost = costAt(usage, selectUsagePrice(usage, { pricing, minute, volume }), volume)
    expect([bill.order, cost]).toEqual([bill.order, bill.nanos])
    expect(fullPrice(computeWorstCase(volume, pricing, minute))).toBeGreaterThanOrEqual(cost)
  }
})

test.each(bills.filter(({ counted }) => counted['audioMs'] !== undefined))(
  'the sound of $model, $order, is billed for $counted.audioMs ms',
  (bill) => {
    expect(audioMsOf(soundOf(bill), undefined)).toBe(bill.counted['audioMs'] ?? NaN)
    const provider = providers.find(({ key }) => bill.model.startsWith(`${key}/`))
    expect(provider?.options.minAudioSeconds).toBe(soundOf(bill).minSeconds)
  },
)
