import { Badge, Code, Group, Menu, Modal, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../components/list-table'
import { Confirm } from '../components/confirm'
import { ListPage } from '../components/list-page'
import { RowMenu } from '../components/row-menu'
import { count } from '../figures'
import { templates, templatesQuery, type Template } from '../templates'
import { StartSession } from './start-session'
import { TemplateForm } from './template-form'

export const TemplatesPage = () => (
  <ListPage
    title="Templates"
    about="What sessions begin with: a model, its instructions, a first message. Gaps in them are filled in when one is begun."
    query={useQuery(templatesQuery)}
    empty={{
      title: 'No templates yet',
      text: (
        <>
          Do you begin the same conversation again and again? Keep what it begins with here. What
          changes stands in it as <Code>{'{{name}}'}</Code>.
        </>
      ),
    }}
    add={{ label: 'New template', form: (close) => <TemplateForm onDone={close} />, size: 'lg' }}
  >
    {(all) => <TemplateTable all={all} />}
  </ListPage>
)

const TemplateTable = ({ all }: { all: readonly Template[] }) => (
  <ListTable
    columns={[
      'Name',
      'Model',
      'Gaps',
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
            {template.isSystem && <Badge variant="outline">service</Badge>}
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
  const [asked, setAsked] = useState<'begin' | 'change' | 'delete'>()
  const done = () => setAsked(undefined)
  const remove = async () => {
    await templates.delete(id)
    await queries.invalidateQueries(templatesQuery)
  }
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item onClick={() => setAsked('begin')}>Begin a session</Menu.Item>
        {!isSystem && <Menu.Item onClick={() => setAsked('change')}>Change</Menu.Item>}
        {!isSystem && (
          <Menu.Item color="red" onClick={() => setAsked('delete')}>
            Delete
          </Menu.Item>
        )}
      </RowMenu>
      <Modal opened={asked === 'begin'} onClose={done} title={`Begin with ${name}`}>
        <StartSession template={template} onCancel={done} />
      </Modal>
      <Modal opened={asked === 'change'} onClose={done} title={`Change ${name}`} size="lg">
        <TemplateForm template={template} onDone={done} />
      </Modal>
      {asked === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Sessions that were begun with it stay. Only your own templates can be deleted."
          label="Delete"
          onConfirm={remove}
          onClose={done}
        />
      )}
    </>
  )
}
