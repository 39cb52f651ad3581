import { Badge, Code, Group, Menu, Modal, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { api } from '../../api/client'
import { Confirm } from '../../components/confirm'
import { ListPage } from '../../components/list-page'
import { RowMenu } from '../../components/row-menu'
import { count } from '../../format/figures'
import { templatesQuery, type Template } from './template-queries'
import { StartSession } from './start-session'
import { TemplateForm } from './template-form'

export const TemplatesPage = () => (
  <ListPage
    title="Templates"
    about="Presets for sessions: a model, its instructions and a first message. Variables are filled in when a session starts."
    query={useQuery(templatesQuery)}
    empty={{
      title: 'No templates yet',
      text: (
        <>
          Save the start of a conversation that you repeat. Write variable parts as{' '}
          <Code>{'{{name}}'}</Code>.
        </>
      ),
    }}
    add={{ label: 'New template', form: (close) => <TemplateForm onClose={close} />, size: 'lg' }}
  >
    {(all) => <TemplateTable all={all} />}
  </ListPage>
)

const TemplateTable = ({ all }: { all: readonly Template[] }) => (
  <ListTable
    columns={[
      'Name',
      'Model',
      'Variables',
      { name: 'Used', isNumber: true },
      { name: 'Actions', isHidden: true },
    ]}
    minWidth={640}
  >
    {all.map((template) => (
      <Table.Tr key={template.id}>
        <Table.Td maw={340}>
          <Group gap={6}>
            <Text fw={500} size="sm" style={{ overflowWrap: 'anywhere' }}>
              {template.name}
            </Text>
            {template.isSystem && <Badge variant="outline">system</Badge>}
            {template.isPublic && <Badge variant="outline">public</Badge>}
          </Group>
          {template.description && (
            <Text size="xs" c="dimmed" lineClamp={2}>
              {template.description}
            </Text>
          )}
        </Table.Td>
        <Table.Td>{template.modelId ? <Code>{template.modelId}</Code> : 'any'}</Table.Td>
        <Table.Td>{template.variables.join(', ') || '–'}</Table.Td>
        <Table.Td ta="right">{count(template.usageCount)}</Table.Td>
        <Table.Td ta="right">
          <Actions template={template} />
        </Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)

function Actions({ template }: { template: Template }) {
  const { id, name, isSystem } = template
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'begin' | 'change' | 'delete'>()
  const closeDialog = () => setDialog(undefined)
  const remove = async () => {
    await api.DELETE('/api/automation/templates/{id}', { params: { path: { id } } })
    await queries.invalidateQueries(templatesQuery)
  }
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item onClick={() => setDialog('begin')}>Start session</Menu.Item>
        {!isSystem && <Menu.Item onClick={() => setDialog('change')}>Edit</Menu.Item>}
        {!isSystem && (
          <Menu.Item color="red" onClick={() => setDialog('delete')}>
            Delete
          </Menu.Item>
        )}
      </RowMenu>
      <Modal opened={dialog === 'begin'} onClose={closeDialog} title={`Start with ${name}`}>
        <StartSession template={template} onCancel={closeDialog} />
      </Modal>
      <Modal opened={dialog === 'change'} onClose={closeDialog} title={`Edit ${name}`} size="lg">
        <TemplateForm template={template} onClose={closeDialog} />
      </Modal>
      {dialog === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Sessions started with it stay. Only your own templates can be deleted."
          label="Delete"
          onConfirm={remove}
          onClose={closeDialog}
        />
      )}
    </>
  )
}
