import { ResourceForm } from '../../components/resource-form'
import { Code, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client'
import { Loaded } from '../../components/loaded'
import { Moment } from '../../components/moment'
import { handleQuery, type DisplayedHandle } from './queries'

/** The handle: the prefix under which the account's own connections are called. */
export function Handle() {
  const query = useQuery(handleQuery)
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm" maw={520}>
        <Title order={2} size="h4">
          Handle
        </Title>
        <Loaded query={query}>{(handle) => <HandleForm handle={handle} />}</Loaded>
      </Stack>
    </Paper>
  )
}

function HandleForm({ handle }: { handle: DisplayedHandle }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { handle: handle.handle ?? '' } })
  const save = async (fields: typeof form.values) => {
    const answer = await bodyOf(api.PUT('/api/account/handles', { body: fields }))
    queries.setQueryData(handleQuery.queryKey, answer)
    form.resetDirty()
    notifications.show({ message: 'Saved.' })
  }
  const { model_prefix: prefix, can_change_at: changeAt } = handle
  const isFixed = changeAt !== null && Date.parse(changeAt) > Date.now()
  return (
    <ResourceForm form={form} save={save} label="Save handle" isDisabled={isFixed}>
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
    </ResourceForm>
  )
}
