import { Button, Code, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, json } from '../api'
import { Loaded } from '../components/loaded'
import { Moment } from '../components/moment'
import { Problem } from '../components/problem'
import { useSubmit } from '../submit'

const handleQuery = queryOptions({
  queryKey: ['handle'],
  queryFn: async () => (await api.account.handles.$get()).json(),
})

type Shown = Awaited<ReturnType<NonNullable<typeof handleQuery.queryFn>>>

/** The handle: the prefix under which the account's own connections are called. */
export function Handle() {
  const query = useQuery(handleQuery)
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm" maw={520}>
        <Title order={2} size="h4">
          Handle
        </Title>
        <Loaded query={query}>{(shown) => <HandleForm shown={shown} />}</Loaded>
      </Stack>
    </Paper>
  )
}

function HandleForm({ shown }: { shown: Shown }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { handle: shown.handle ?? '' } })
  const { submit, isBusy, error } = useSubmit(async (fields: typeof form.values) => {
    const answer = await api.account.handles.$put(undefined, json(fields))
    queries.setQueryData(handleQuery.queryKey, await answer.json())
    form.resetDirty()
    notifications.show({ message: 'Saved.' })
  }, form)
  const { model_prefix: prefix, can_change_at: changeAt } = shown
  const isFixed = changeAt !== null && Date.parse(changeAt) > Date.now()
  return (
    <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
      <Stack gap="sm">
        <Problem error={error} />
        <TextInput
          label="Your handle"
          description="3 to 30 lowercase letters, digits and hyphens; can be changed once every 30 days"
          required
          minLength={3}
          maxLength={30}
          autoCapitalize="none"
          spellCheck={false}
          readOnly={isFixed}
          {...form.getInputProps('handle')}
        />
        <Text size="sm" c="dimmed">
          {prefix ? (
            <>
              Requests for <Code>{prefix}provider/model</Code> use your own connections only.
            </>
          ) : (
            'With a handle as prefix, requests use your own connections only, regardless of the routing order.'
          )}
        </Text>
        {isFixed && (
          <Text size="sm" c="dimmed">
            You can change it again <Moment at={changeAt} />.
          </Text>
        )}
        <Group>
          <Button type="submit" loading={isBusy} disabled={isFixed || !form.isDirty()}>
            Save handle
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
