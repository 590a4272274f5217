#include "worker-agent/tools/attachment_text.h"

#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"
#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

constexpr size_t kMaxNameCharacters = 255;
constexpr size_t kMaxLanguageCharacters = 64;

std::string Heading(const v1::Envelope& envelope, int index) {
  const v1::MessageAttachment& attachment = envelope.attachments(index);
  std::string text = "Attachment " + std::to_string(index + 1) + " of " +
                     std::to_string(envelope.attachments_size()) + ": " +
                     std::string(AttachmentTypeLabel(attachment.type())) + " " +
                     QuotedLine(attachment.name(), kMaxNameCharacters);
  if (!attachment.language().empty()) {
    text += ", " + NameLabel(attachment.language(), kMaxLanguageCharacters);
  }
  return text + ", " + std::to_string(CharacterCount(attachment.content())) +
         " characters\n";
}

// As many whole lines of `fenced` as `room` has, at least a part of the first.
std::string Cut(const std::string& fenced, size_t room) {
  const size_t newline = fenced.rfind('\n', room);
  if (newline != std::string::npos && newline > 0) {
    return fenced.substr(0, newline);
  }
  // Not between the bytes of one character.
  while (room > 0 &&
         (static_cast<unsigned char>(fenced[room]) & 0xc0) == 0x80) {
    --room;
  }
  return fenced.substr(0, room);
}

}  // namespace

std::string AttachmentsText(const v1::Envelope& envelope) {
  std::string text;
  size_t room = kMaxAttachmentBytes;
  for (int i = 0; i < envelope.attachments_size(); ++i) {
    text += Heading(envelope, i);
    const std::string fenced = FenceText(envelope.attachments(i).content());
    if (fenced.size() <= room) {
      room -= fenced.size();
      text += fenced + "\n";
      continue;
    }
    const std::string shown = room == 0 ? "" : Cut(fenced, room);
    room = 0;
    if (!shown.empty()) text += shown + "\n";
    text += "[cut: " + std::to_string(shown.size()) + " of " +
            std::to_string(fenced.size()) +
            " bytes shown; ask the sender for the path of a file instead]\n";
  }
  return text;
}

Json AttachmentsJson(const v1::Envelope& envelope) {
  Json list = Json::array();
  for (const v1::MessageAttachment& attachment : envelope.attachments()) {
    Json entry = {{"type", AttachmentTypeLabel(attachment.type())},
                  {"name", SafeLabel(attachment.name(), kMaxNameCharacters)},
                  {"characters", CharacterCount(attachment.content())}};
    if (!attachment.language().empty()) {
      entry["language"] =
          SafeLabel(attachment.language(), kMaxLanguageCharacters);
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace intercom
