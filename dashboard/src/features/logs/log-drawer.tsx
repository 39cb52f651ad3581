import { Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Loaded } from '../../components/loaded'
import { FailureScope } from '../../components/query-failure'
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

/** Endpoints whose models write no text. */
const withoutText: ReadonlySet<string> = new Set([
  '/v1/embeddings',
  '/v1/moderations',
  '/v1/rerank',
  '/v2/rerank',
  '/v1/images/generations',
  '/v1/images/edits',
])

const Actions = ({ log }: { log: LogDetails }) => {
  const message = promptOf(log.request_body)
  const model = log.requested_model || log.model
  return (
    <>
      {model && !withoutText.has(log.endpoint) && (
        <Button
          size="xs"
          variant="default"
          renderRoot={(props) => (
            <Link
              to="/playground"
              search={{ model }}
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
