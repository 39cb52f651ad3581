import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { requestQuery, type AnyRequestDetails } from './queries'
import { Loaded } from '../../../components/loaded'
import { FailureScope } from '../../../components/query-failure'
import { exactUsd } from '../../../format/money'
import { RequestView } from '../../logs/request-view'
import { SidePanel } from '../../../components/side-panel'

/** The provider cost of a request, and its margin. */
const MarginOf = ({ request, revenue }: { request: AnyRequestDetails; revenue: number }) => (
  <section aria-label="Margin">
    <Title order={3} size="h5" mb={4}>
      Margin
    </Title>
    <Text size="sm">
      {request.provider_cost === null
        ? 'The provider cost is unknown.'
        : `${exactUsd(revenue)} revenue less ${exactUsd(request.provider_cost)} provider cost: ${exactUsd(request.margin)}`}
    </Text>
  </section>
)

/** One request of any account, without its bodies. */
export function RequestDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery(requestQuery(id))
  return (
    <SidePanel onClose={onClose} size="xl" title="Request">
      <FailureScope>
        <Stack gap="lg">
          <Loaded query={query} what="request">
            {(log) => (
              <>
                <Group gap="xs">
                  <Text size="sm">Account</Text>
                  <Anchor
                    size="sm"
                    style={{ overflowWrap: 'anywhere' }}
                    renderRoot={(props) => (
                      <Link
                        to="/operator/users/$id"
                        params={{ id: log.user_id }}
                        search={{}}
                        {...props}
                      />
                    )}
                  >
                    {log.email ?? log.user_id}
                  </Anchor>
                </Group>
                <RequestView
                  log={log}
                  reader="operator"
                  actions={
                    <Button
                      size="xs"
                      variant="default"
                      renderRoot={(props) => (
                        <Link
                          to="/operator/requests"
                          search={{ user: log.user_id, range: 'week' }}
                          {...props}
                        />
                      )}
                    >
                      All requests of the account
                    </Button>
                  }
                >
                  {log.revenue !== null && <MarginOf request={log} revenue={log.revenue} />}
                  <Text size="sm" c="dimmed">
                    Prompts and answers are visible to the account alone. This view is recorded in
                    the audit log.
                  </Text>
                </RequestView>
              </>
            )}
          </Loaded>
        </Stack>
      </FailureScope>
    </SidePanel>
  )
}
