import {
  Badge,
  Button,
  Code,
  Group,
  NumberInput,
  Paper,
  Switch,
  Table,
  Text,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { queryOptions, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../components/list-table'
import { api, json } from '../api'
import { Confirm } from '../components/confirm'
import { FormFrame } from '../components/form-frame'
import { ListPage } from '../components/list-page'
import { Problem } from '../components/problem'
import { useSubmit } from '../submit'

const endpoint = api.user['model-mappings']

const mappingsQuery = queryOptions({
  queryKey: ['mappings'],
  queryFn: async () => (await (await endpoint.$get({ query: { limit: '100' } })).json()).mappings,
})

type Mapping = Awaited<ReturnType<NonNullable<typeof mappingsQuery.queryFn>>>[number]

export const MappingsPage = () => (
  <ListPage
    title="Model mappings"
    about="Redirect the model names your clients send to the models you want."
    query={useQuery(mappingsQuery)}
    empty={{
      title: 'No mappings yet',
      text: (
        <>
          Map a model name that a client sends, such as <Code>gpt-4o</Code>, to another model. A
          star matches any run of characters.
        </>
      ),
    }}
    add={{ label: 'New mapping', form: (close) => <NewMapping onDone={close} /> }}
    above={<Preview />}
  >
    {(mappings) => <MappingTable mappings={mappings} />}
  </ListPage>
)

function Preview() {
  const [name, setName] = useState('')
  const [model] = useDebouncedValue(name.trim(), 300)
  const preview = useQuery({
    queryKey: ['mappings', 'preview', model],
    queryFn:
      model === ''
        ? skipToken
        : async () => (await endpoint.preview.$post(undefined, json({ model }))).json(),
  })
  const { data } = preview
  return (
    <Paper withBorder p="md">
      <TextInput
        label="Test a model name"
        placeholder="Model name as sent by a client"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <div aria-live="polite">
        {model !== '' && data && (
          <Group gap="xs" mt="sm">
            <Code>{data.requested_model}</Code>→<Code>{data.resolved_model}</Code>
            {data.accessible ? (
              <Badge color="green" variant="light">
                by {data.provider}
              </Badge>
            ) : (
              <Badge color="red" variant="light">
                {data.reason}
              </Badge>
            )}
            {!data.matched && (
              <Text size="sm" c="dimmed">
                no matching mapping
              </Text>
            )}
          </Group>
        )}
        {preview.error && <Problem error={preview.error} />}
      </div>
    </Paper>
  )
}

function MappingTable({ mappings }: { mappings: readonly Mapping[] }) {
  const queries = useQueryClient()
  const [doomed, setDoomed] = useState<Mapping>()
  const change = async (id: string, enabled: boolean) => {
    await endpoint[':id'].$put({ param: { id } }, json({ enabled }))
    await queries.invalidateQueries(mappingsQuery)
  }
  return (
    <>
      <ListTable
        columns={[
          'Requested model',
          'Target model',
          'Priority',
          { name: 'Enabled', place: 'aside' },
          { name: 'Actions', isHidden: true },
        ]}
        minWidth={560}
      >
        {mappings.map((one) => (
          <Table.Tr key={one.id}>
            <Table.Td>
              <Code>{one.source_pattern}</Code>
            </Table.Td>
            <Table.Td>
              <Code>{one.target_model}</Code>
            </Table.Td>
            <Table.Td>{one.priority}</Table.Td>
            <Table.Td>
              <Switch
                checked={one.enabled}
                onChange={(event) => void change(one.id, event.currentTarget.checked)}
                aria-label={`Enable ${one.source_pattern}`}
              />
            </Table.Td>
            <Table.Td ta="right">
              <Button size="xs" variant="subtle" color="red" onClick={() => setDoomed(one)}>
                Delete
              </Button>
            </Table.Td>
          </Table.Tr>
        ))}
      </ListTable>
      {doomed && (
        <Confirm
          question={`Delete the mapping for ${doomed.source_pattern}?`}
          about="Requests for this name then use the model of that name, if one exists."
          label="Delete"
          onConfirm={async () => {
            await endpoint[':id'].$delete({ param: { id: doomed.id } })
            await queries.invalidateQueries(mappingsQuery)
          }}
          onClose={() => setDoomed(undefined)}
        />
      )}
    </>
  )
}

function NewMapping({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { source_pattern: '', target_model: '', priority: 100 } })
  const submission = useSubmit(async (fields: typeof form.values) => {
    await endpoint.$post(undefined, json(fields))
    await queries.invalidateQueries(mappingsQuery)
    onDone()
  }, form)
  return (
    <FormFrame form={form} submission={submission} label="Create" onCancel={onDone}>
      <TextInput
        label="Requested model"
        description="A name, or a pattern such as gpt-*"
        required
        data-autofocus
        {...form.getInputProps('source_pattern')}
      />
      <TextInput
        label="Target model"
        description="provider/model, collection/name or handle/provider/model; $1 is what the first star matched"
        required
        {...form.getInputProps('target_model')}
      />
      <NumberInput
        label="Priority"
        description="Lower values are matched first"
        min={1}
        max={1000}
        {...form.getInputProps('priority')}
      />
    </FormFrame>
  )
}
