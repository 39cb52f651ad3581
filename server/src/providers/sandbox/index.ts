import { answerChat } from './chat'
import { answerCompletion } from './completion'
import { answerEmbeddings } from './embedding'
import { answerImages } from './image'
import { modelList } from './models'
import { answerModeration } from './moderation'
import { SandboxRefusal, toErrorResponse } from './refusal'
import { answerRerank } from './rerank'
import { answerSpeech } from './speech'
import { answerTranscription } from './transcription'

/** A request as a provider of the OpenAI format gets it, its JSON already read. */
export interface SandboxRequest {
  path: string
  body: unknown
  /** Ends a stream that is still being read. */
  signal: AbortSignal
}

const paths: Readonly<Record<string, (request: SandboxRequest) => Response>> = {
  '/chat/completions': ({ body, signal }) => answerChat(body, signal),
  '/completions': ({ body, signal }) => answerCompletion(body, signal),
  '/embeddings': ({ body }) => answerEmbeddings(body),
  '/moderations': ({ body }) => answerModeration(body),
  '/rerank': ({ body }) => answerRerank(body),
  '/audio/speech': ({ body }) => answerSpeech(body),
  '/audio/transcriptions': ({ body }) => answerTranscription(body, 'transcribe'),
  '/audio/translations': ({ body }) => answerTranscription(body, 'translate'),
  '/images/generations': ({ body }) => answerImages(body),
  '/models': () => Response.json(modelList()),
}

/**
 * The provider that needs no provider: an OpenAI-compatible upstream inside the process, so that the
 * relay treats it as any other. Its models make their answers up:
 *
 * - `echo` repeats the last message of the user;
 * - `lorem` writes prose, `max_tokens` long (at most 4,096 tokens), else 120 tokens;
 * - `tools` calls a tool with sample arguments and, given the result, cites it (`tool-calls.ts`);
 * - `embedding` has 256 dimensions and knows nothing of meaning;
 * - `moderation` flags the categories whose names are in a text;
 * - `rerank` orders documents by the words that they share with a query;
 * - `speech` hums a tone for each character, as WAV or PCM;
 * - `transcription` states the length of a file, which it has not heard;
 * - `image` draws stripes in colours that depend on the prompt.
 *
 * The same request has the same answer but for `id` and `created`. Tokens are simulated (`text.ts`).
 * Never throws: a wrong request gets a 400 or a 404 with OpenAI's error body.
 */
export function answer(request: SandboxRequest): Response {
  try {
    const serve = paths[request.path]
    if (serve) return serve(request)
    throw new SandboxRefusal(`The sandbox does not serve ${request.path}.`, { status: 404 })
  } catch (thrown) {
    return toErrorResponse(thrown)
  }
}
