import { AttemptSource, identityOf } from './answer-facts'
import type { RequestAttempt } from './attempt'
import type { Endpoint, EndpointRun } from './endpoint'
import { reportOmissions } from './omissions'
import { openStream, type StreamPlan } from './open-stream'
import type { Reply } from './request'
import { checkTunnel } from './check-tunnel'
import { servesKind } from '../catalog/served-kinds'
import { speechNeed } from '../limits/media-need'
import { roughTokens } from '../metering/estimate'
import { pickLongTexts } from '../metering/long-texts'
import { boundSpeech, estimateSpeech, isPricedByToken } from '../metering/speech-volume'
import { selectRelayAddress } from '../providers/chat-route'
import { mayStreamEvents } from '../providers/openai/speech'
import { checkLength, chooseFormat, type SpeechTarget } from '../providers/speech-form'
import { speechFormOf } from '../providers/speech-forms'
import { unsupported } from '../providers/unsupported-fields'
import { isSharedCredential } from '../shared-credentials/credential'
import type { OutgoingRequest } from '../upstream/protocol/protocol'
import { SpeechProtocol } from '../upstream/protocol/speech'
import { speechTypes } from '../wire/speech-format'
import { SpeechRequest } from '../wire/speech-request'
import { SoundWriter, SpeechEventWriter } from '../wire/speech-writer'
import { charactersOf } from '../wire/text-size'
import { noUsage } from '../wire/usage'

type SpeechAttempt = RequestAttempt<SpeechRequest>

/** `POST /v1/audio/speech`. */
export const speech: Endpoint<typeof SpeechRequest> = {
  schema: SpeechRequest,
  operation: 'speech',
  priceKind: 'speech',
  maxBytes: 1024 * 1024,
  kinds: ['speech'],
  // The limit of a model is enforced below, or by its provider.
  size: () => ({ textField: 'input', output: undefined, texts: () => [], tokens: 0 }),
  need: (_params, bytes) => ({ promptTokens: roughTokens(bytes), answers: 0 }),
  volume: ({ request, model }) => boundSpeech(request.params, model),
  texts: ({ request }) => pickLongTexts([request.params.input]),
  mediaNeed: () => speechNeed,
  run,
}

async function run(failover: EndpointRun<SpeechRequest>): Promise<Reply> {
  const { request } = failover
  const identity = identityOf(request, 'chat.completion.chunk')
  const opening = openStream(failover, new SpokenAnswer())
  if (wantsEvents(request.params)) {
    return { kind: 'stream', identity, sound: 'events', writer: new SpeechEventWriter(), opening }
  }
  return { kind: 'stream', identity, sound: 'bytes', writer: new SoundWriter(), opening }
}

const wantsEvents = ({ stream_format: streamFormat }: SpeechRequest) => streamFormat === 'sse'

/** The format of an attempt's answer. Throws `invalid_request` where its provider does not make it. */
const formatOf = ({ candidate, request }: SpeechAttempt) =>
  chooseFormat(speechFormOf(candidate.provider), request.params.response_format)

class SpokenAnswer implements StreamPlan<SpeechRequest, SpeechProtocol> {
  /** Rejects a request that the candidate does not take, before it is recorded. */
  async before(attempt: SpeechAttempt): Promise<void> {
    const { provider } = attempt.candidate
    if (!servesKind(provider, 'speech')) {
      throw unsupported('model', `model: ${provider.name} does not serve speech.`)
    }
    checkTunnel(attempt)
    if (isSharedCredential(attempt.candidate)) rejectOwnVoice(attempt.request.params)
    checkLength(
      attempt.request.params.input,
      speechFormOf(provider).maxCharacters({ ...attempt.model, options: provider.options }),
    )
    writeFor(attempt, false)
  }

  protocol(attempt: SpeechAttempt): SpeechProtocol {
    const { provider } = attempt.candidate
    const form = speechFormOf(provider)
    const asEvents = form.eventsOnly || shouldStreamEvents(attempt)
    const omittedFields = form.omits.filter(
      (name) => (attempt.body[name] ?? undefined) !== undefined,
    )
    return new SpeechProtocol({
      form,
      source: new AttemptSource(attempt, 'input'),
      request: writeFor(attempt, asEvents),
      plainRequest: asEvents && !form.eventsOnly ? writeFor(attempt, false) : undefined,
      omitted: reportOmissions(attempt, omittedFields),
    })
  }

  relay(attempt: SpeechAttempt, protocol: SpeechProtocol) {
    const { params } = attempt.request
    const format = formatOf(attempt)
    const isCounted = isPricedByToken(attempt.model.pricing)
    return protocol.stream({
      format,
      characters: charactersOf(params.input),
      toEvents: wantsEvents(params),
      estimate: (bytes) => (isCounted ? estimateSpeech(params, { format, bytes }) : noUsage),
    })
  }

  /** All of the sound is held for: it is never cut. */
  allowance(): undefined {
    return undefined
  }

  contentType(attempt: SpeechAttempt): string {
    return speechTypes[formatOf(attempt)]
  }
}

/** A voice of the account behind a shared credential is not the caller's to use. */
function rejectOwnVoice({ voice }: SpeechRequest): void {
  if (typeof voice !== 'object' || voice === null) return
  throw unsupported('voice', 'voice: the id of a voice works on your own connection (BYOK) only.')
}

/** The last event has the usage, which bytes have not; where no price needs it, the caller decides. */
function shouldStreamEvents({ candidate, model, request }: SpeechAttempt): boolean {
  const { provider } = candidate
  if (provider.options.speech.form !== 'openai' || provider.dialect === 'sandbox') return false
  if (!mayStreamEvents(model.upstreamModel)) return false
  return isPricedByToken(model.pricing) || wantsEvents(request.params)
}

/** Writes the request for a candidate. Throws `invalid_request`. */
function writeFor(attempt: SpeechAttempt, asEvents: boolean): OutgoingRequest {
  const { candidate, model, body, request } = attempt
  const { provider } = candidate
  const { upstreamModel } = model
  const { options } = provider
  const target: SpeechTarget = { upstreamModel, options, format: formatOf(attempt), asEvents }
  const upstreamRequest = speechFormOf(provider).write(request.params, body, target)
  const { url, deployment } = selectRelayAddress(candidate, upstreamModel, 'speech')
  if (deployment !== undefined) upstreamRequest.body['model'] = deployment
  return { operation: 'speech', url, ...upstreamRequest }
}
