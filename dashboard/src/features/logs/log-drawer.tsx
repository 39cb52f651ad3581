import { Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Loaded } from '../../components/loaded'
import { FailureScope } from '../../components/query-failure'
import { toPlaygroundSearch, type PlaygroundKind } from '../playground/kinds'
import { LogBodies } from './log-bodies'
import { detailsQuery, type LogDetails } from './queries'
import { RequestView } from './request-view'
import { promptOf } from './stored-bodies'
import { SidePanel } from '../../components/side-panel'

/** The details of one request. */
export function LogDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery(detailsQuery(id))
  return (
    <SidePanel onClose={onClose} size="xl" title="Request">
      <FailureScope>
        <Stack gap="lg">
          <Loaded query={query} what="request">
            {(log) => (
              <RequestView log={log} reader="owner" actions={<Actions log={log} />}>
                <LogBodies {...log} />
              </RequestView>
            )}
          </Loaded>
        </Stack>
      </FailureScope>
    </SidePanel>
  )
}

/** Endpoints whose models the playground does not try. */
const withoutPlayground: ReadonlySet<string> = new Set([
  '/v1/embeddings',
  '/v1/moderations',
  '/v1/rerank',
  '/v2/rerank',
  '/v1/images/edits',
  '/v1/images/variations',
  '/v1/audio/translations',
])

/** The kinds of models of other endpoints than those that chat. */
const kinds: ReadonlyMap<string, PlaygroundKind> = new Map([
  ['/v1/images/generations', 'image'],
  ['/v1/audio/speech', 'speech'],
  ['/v1/audio/transcriptions', 'transcription'],
])

const Actions = ({ log }: { log: LogDetails }) => {
  const message = promptOf(log.request_body)
  const model = log.requested_model || log.model
  return (
    <>
      {model && !withoutPlayground.has(log.endpoint) && (
        <Button
          size="xs"
          variant="default"
          renderRoot={(props) => (
            <Link
              to="/playground"
              search={toPlaygroundSearch({
                id: model,
                category: kinds.get(log.endpoint) ?? 'chat',
              })}
              {...(message !== undefined && { state: { message } })}
              {...props}
            />
          )}
        >
          Open in playground
        </Button>
      )}
      <Button
        size="xs"
        variant="default"
        renderRoot={(props) => (
          <Link to="/support" search={{ new: true, request: log.id }} {...props} />
        )}
      >
        Contact support about this request
      </Button>
    </>
  )
}
