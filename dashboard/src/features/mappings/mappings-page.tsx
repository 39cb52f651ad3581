import {
  Badge,
  Code,
  Group,
  Menu,
  NumberInput,
  Paper,
  Switch,
  Table,
  Text,
  TextInput,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { api } from '../../api/client'
import { Confirm } from '../../components/confirm'
import { ResourceForm } from '../../components/resource-form'
import { ListPage } from '../../components/list-page'
import { Problem } from '../../components/problem'
import { RowMenu } from '../../components/row-menu'
import { useSubmit } from '../../components/use-submit'
import { mappingsQuery, previewQuery, type Mapping } from './queries'

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
    add={{ label: 'New mapping', form: (close) => <NewMapping onClose={close} /> }}
    above={<Preview />}
  >
    {(mappings) => <MappingTable mappings={mappings} />}
  </ListPage>
)

function Preview() {
  const [name, setName] = useState('')
  const [model] = useDebouncedValue(name.trim(), 300)
  const preview = useQuery(previewQuery(model))
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

const MappingTable = ({ mappings }: { mappings: readonly Mapping[] }) => (
  <ListTable
    columns={[
      'Requested model',
      'Target model',
      'Priority',
      { name: 'Enabled', position: 'aside' },
      { name: 'Actions', isHidden: true },
    ]}
    minWidth={560}
  >
    {mappings.map((mapping) => (
      <MappingRow key={mapping.id} mapping={mapping} />
    ))}
  </ListTable>
)

function MappingRow({ mapping }: { mapping: Mapping }) {
  const { id, source_pattern: pattern } = mapping
  const queries = useQueryClient()
  const params = { path: { id } }
  const switching = useSubmit(async (enabled: boolean) => {
    await api.PUT('/api/user/model-mappings/{id}', { params, body: { enabled } })
    await queries.invalidateQueries(mappingsQuery)
  })
  const [isDeleting, setDeleting] = useState(false)
  const remove = async () => {
    await api.DELETE('/api/user/model-mappings/{id}', { params })
    await queries.invalidateQueries(mappingsQuery)
  }
  return (
    <Table.Tr>
      <Table.Td>
        <Code>{pattern}</Code>
        <Problem error={switching.error} />
      </Table.Td>
      <Table.Td>
        <Code>{mapping.target_model}</Code>
      </Table.Td>
      <Table.Td>{mapping.priority}</Table.Td>
      <Table.Td>
        <Switch
          checked={mapping.enabled}
          onChange={(event) => void switching.submit(event.currentTarget.checked)}
          aria-label={`Enable ${pattern}`}
        />
      </Table.Td>
      <Table.Td ta="right">
        <RowMenu name={pattern}>
          <Menu.Item color="red" onClick={() => setDeleting(true)}>
            Delete
          </Menu.Item>
        </RowMenu>
        {isDeleting && (
          <Confirm
            question={`Delete the mapping for ${pattern}?`}
            about="Requests for this name then use the model of that name, if one exists."
            label="Delete"
            onConfirm={remove}
            onClose={() => setDeleting(false)}
          />
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function NewMapping({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { source_pattern: '', target_model: '', priority: 100 } })
  const save = async (fields: typeof form.values) => {
    await api.POST('/api/user/model-mappings', { body: fields })
    await queries.invalidateQueries(mappingsQuery)
    onClose()
  }
  return (
    <ResourceForm form={form} save={save} label="Create" onCancel={onClose}>
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
    </ResourceForm>
  )
}
