import type { Behaviour } from './call'
import { badBodies } from './behaviours/bad-bodies'
import { encodings } from './behaviours/encodings'
import { endings } from './behaviours/endings'
import { errorsInside } from './behaviours/errors-inside'
import { framing } from './behaviours/framing'
import { httpOddities } from './behaviours/http-oddities'
import { messages } from './behaviours/messages'
import { shapes } from './behaviours/shapes'
import { statuses } from './behaviours/statuses'
import { timing } from './behaviours/timing'
import { toolCalls } from './behaviours/tool-calls'
import { usage } from './behaviours/usage'
import { drawings, edits, variations } from './drawings'
import { embeddings } from './embeddings'
import { foreignDrawings } from './foreign-drawings'
import { foreignTranscripts } from './foreign-transcripts'
import { moderations } from './moderations'
import { severities } from './severities'
import { rankings } from './rankings'
import { foreignSpeeches, speeches } from './speeches'
import { deepgram, elevenLabs, transcripts } from './transcripts'

/** Every behaviour by the name a model has; an argument may follow it after a hyphen. */
const behaviours: Record<string, Behaviour> = {
  ...timing,
  ...endings,
  ...badBodies,
  ...statuses,
  ...errorsInside,
  ...usage,
  ...framing,
  ...encodings,
  ...httpOddities,
  ...shapes,
  ...toolCalls,
}

/** The behaviours that only one endpoint has, by the end of its path. */
const own: readonly (readonly [string, Record<string, Behaviour>])[] = [
  ['/embeddings', embeddings],
  ['/moderations', moderations],
  ...severities,
  ['/rerank', rankings],
  ['/audio/speech', speeches],
  ...foreignSpeeches,
  ...foreignDrawings,
  ...foreignTranscripts,
  ['/images/generations', drawings],
  ['/images/edits', edits],
  ['/images/variations', variations],
  ['/messages', messages],
  ['/audio/transcriptions', transcripts],
  ['/audio/translations', transcripts],
  ['/listen', deepgram],
  ['/speech-to-text', elevenLabs],
]

/** The behaviour of that name at an endpoint. */
export function behaviourOf(path: string, name: string): Behaviour | undefined {
  const ofEndpoint = own.find(([end]) => path.endsWith(end))?.[1] ?? {}
  return Object.hasOwn(ofEndpoint, name)
    ? ofEndpoint[name]
    : Object.hasOwn(behaviours, name)
      ? behaviours[name]
      : undefined
}
